#include "protocol/content.hpp"
#include "protocol/table.hpp"
#include "session/handshake.hpp"

#include <cstdlib>

namespace {

namespace wire = millrace::rabbitmq::detail;

void read_arguments(wire::method what, wire::reader in) {
  switch (what) {
  case wire::method::basic_deliver:
    (void)wire::deliver_args(in);
    break;
  case wire::method::basic_return:
    (void)wire::return_args(in);
    break;
  case wire::method::basic_ack:
    (void)wire::confirm_args(in);
    break;
  case wire::method::channel_close:
    (void)wire::close_args(in);
    break;
  default:
    break;
  }
}

void read_content(wire::reader in) {
  const wire::content_header header(in);
  millrace::header_map headers;
  wire::add_headers(headers, wire::received_properties(header.properties));
  (void)wire::delivery_count_of(header.properties);
}

} // namespace

/// Whatever a server sends is read to its end or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  wire::handshake_machine handshake{wire::handshake_config()};
  std::string out;
  handshake.begin(out);
  while (true) {
    const wire::frame_read read = wire::read_frame(input);
    if (read.how != wire::frame_read::state::complete) return 0;
    if (read.size > input.size()) std::abort();
    input.remove_prefix(read.size);
    wire::reader in(read.what.payload);
    if (read.what.type == wire::frame_type::header) read_content(in);
    if (read.what.type != wire::frame_type::method) continue;
    const wire::method what = wire::read_method(in);
    read_arguments(what, in);
    (void)handshake.on_method(what, in, out);
  }
}
