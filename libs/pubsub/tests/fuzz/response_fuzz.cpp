#include "protocol/message_codec.hpp"

#include <cstdint>
#include <cstdlib>

namespace wire = millrace::pubsub::detail;

namespace {

/// What was received can be published, unless the service would not take it, and is the same then.
void publish_again(const wire::received_view& m) {
  millrace::header_map headers;
  wire::read_attributes(m.message, headers);
  (void)wire::read_timestamp(m.publish_time);
  const wire::outgoing_message out{millrace::as_bytes(m.data), &headers, m.ordering_key};
  if (!wire::fault_of(out).empty()) return;
  std::string again;
  wire::put_message(again, out);
  wire::received_view back; // field 2 is a request's message and a received message's alike
  if (again.size() != wire::encoded_size(out) || !wire::read_received(again, back)) std::abort();
  if (back.data != m.data || back.ordering_key != m.ordering_key) std::abort();
}

} // namespace

/// Whatever a server sends is read to its end or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)wire::read_response(input, publish_again);
  (void)wire::read_message_ids(input);
  return 0;
}
