#include "session/handshake.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <algorithm>

namespace millrace::rabbitmq::detail {
namespace {

/// Whether a space-separated list has this word.
bool lists(std::string_view words, std::string_view word) noexcept {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

/// Of two limits where 0 means none.
template <class Number> Number lower(Number a, Number b) noexcept {
  if (a == 0) return b;
  return b == 0 ? a : std::min(a, b);
}

constexpr std::uint32_t smallest_frame = 4096;

} // namespace

void handshake_machine::begin(std::string& out) {
  state_ = state::start;
  agreed_ = {};
  failure_.reset();
  out.append(protocol_header);
}

handshake_machine::progress handshake_machine::refuse(std::string why) {
  failure_ = error(errc::connect, std::move(why));
  return progress::refused;
}

error handshake_machine::failure() const { return failure_.value_or(error(errc::connect, "the handshake")); }

handshake_machine::progress handshake_machine::on_method(method what, reader& args, std::string& out) {
  if (what == method::connection_close) {
    const close_args close(args);
    append_plain(out, 0, method::connection_close_ok);
    failure_ =
        error(errc::connect, "the server refused the handshake").from_server(close.code, std::string(close.text));
    return progress::refused;
  }
  if (state_ == state::start && what == method::connection_start) return on_start(args, out);
  if (state_ == state::tune && what == method::connection_tune) return on_tune(args, out);
  if (state_ == state::open && what == method::connection_open_ok) return progress::open;
  return refuse("the server sent something else than the handshake");
}

handshake_machine::progress handshake_machine::on_start(reader& args, std::string& out) {
  const std::uint8_t major = args.u8();
  const std::uint8_t minor = args.u8();
  (void)args.table();
  const std::string_view mechanisms = args.long_string();
  if (!args.ok()) return refuse("connection.start is malformed");
  if (major != 0 || minor != 9) return refuse("the server speaks another version of AMQP");
  const std::string_view mechanism = config_.external ? "EXTERNAL" : "PLAIN";
  if (!lists(mechanisms, mechanism)) {
    return refuse("the server offers no login by " + std::string(mechanism) + ", only " + std::string(mechanisms));
  }
  std::string response;
  if (!config_.external) response = std::string(1, '\0') + config_.user + std::string(1, '\0') + config_.password;
  append_start_ok(out, mechanism, response, config_.connection_name);
  state_ = state::tune;
  return progress::more;
}

handshake_machine::progress handshake_machine::on_tune(reader& args, std::string& out) {
  const tune_args offered(args);
  if (!args.ok()) return refuse("connection.tune is malformed");
  agreed_.channel_max = lower(offered.channel_max, agreed_.channel_max);
  agreed_.frame_max = std::max(lower(offered.frame_max, agreed_.frame_max), smallest_frame);
  agreed_.heartbeat = config_.heartbeat ? *config_.heartbeat : offered.heartbeat;
  append_tune_ok(out, agreed_.channel_max, agreed_.frame_max, agreed_.heartbeat);
  append_connection_open(out, config_.vhost);
  state_ = state::open;
  return progress::more;
}

error handshake_machine::lost(const error& why) const {
  const char* what = "the connection was lost before the server answered";
  if (state_ == state::tune) what = "the server closed the connection at the login";
  if (state_ == state::open) what = "the server closed the connection when the vhost was opened";
  return error(errc::connect, std::string(what) + ": " + why.message());
}

} // namespace millrace::rabbitmq::detail
