#include "protocol/message_in.hpp"
#include "protocol/message_out.hpp"

#include <cstdint>
#include <cstdlib>

namespace wire = millrace::amqp::detail;

/// Whatever a peer sends as a message is read to its end or refused; what can be read can be sent again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const wire::received in = wire::read_message(bytes);
  millrace::header_map headers;
  wire::add_headers(headers, in);
  std::string correlation;
  (void)wire::correlation_of(in, correlation);
  (void)wire::copies_of(in);
  (void)wire::received_properties(in);
  if (in.body != wire::received::body_kind::bytes) return 0;
  wire::outbound_message out;
  out.headers = &headers;
  out.payload = millrace::as_bytes(in.payload);
  std::string again;
  if (!wire::append_message(again, out)) return 0;
  if (wire::read_message(again).payload != in.payload) std::abort();
  return 0;
}
