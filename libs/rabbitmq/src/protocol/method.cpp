#include "protocol/method.hpp"

#include "protocol/table.hpp"

namespace millrace::rabbitmq::detail {
namespace {

/// A method frame; its destructor ends it.
class method_frame : public frame_writer {
 public:
  method_frame(std::string& out, std::uint16_t channel, method what) : frame_writer(out, frame_type::method, channel) {
    u32(static_cast<std::uint32_t>(what));
  }
  method_frame(const method_frame&) = delete;
  method_frame& operator=(const method_frame&) = delete;
  ~method_frame() { end(); }
};

/// The frames of a subscription's plan are addressed when its channel is known.
constexpr std::uint16_t any_channel = 0;

void append_capability(writer& out, std::string_view name) {
  out.short_string(name);
  out.u8('t');
  out.u8(1);
}

void append_text_field(writer& out, std::string_view name, std::string_view text) {
  out.short_string(name);
  out.u8('S');
  out.long_string(text);
}

void append_client_properties(writer& out, std::string_view connection_name) {
  const std::size_t at = out.begin_length();
  append_text_field(out, "product", "Millrace");
  append_text_field(out, "platform", "C++");
  if (!connection_name.empty()) append_text_field(out, "connection_name", connection_name);
  out.short_string("capabilities");
  out.u8('F');
  const std::size_t inner = out.begin_length();
  for (const char* name : {"publisher_confirms", "consumer_cancel_notify", "basic.nack", "connection.blocked",
                           "authentication_failure_close", "exchange_exchange_bindings"}) {
    append_capability(out, name);
  }
  out.end_length(inner);
  out.end_length(at);
}

} // namespace

void append_start_ok(std::string& out, std::string_view mechanism, std::string_view response,
                     std::string_view connection_name) {
  method_frame f(out, 0, method::connection_start_ok);
  append_client_properties(f, connection_name);
  f.short_string(mechanism);
  f.long_string(response);
  f.short_string("en_US");
}

void append_tune_ok(std::string& out, std::uint16_t channel_max, std::uint32_t frame_max, std::uint16_t heartbeat) {
  method_frame f(out, 0, method::connection_tune_ok);
  f.u16(channel_max);
  f.u32(frame_max);
  f.u16(heartbeat);
}

void append_connection_open(std::string& out, std::string_view vhost) {
  method_frame f(out, 0, method::connection_open);
  f.short_string(vhost);
  f.short_string({});
  f.u8(0);
}

void append_connection_close(std::string& out, std::uint16_t code, std::string_view text) {
  method_frame f(out, 0, method::connection_close);
  f.u16(code);
  f.short_string(text.substr(0, most_short));
  f.u32(0);
}

void append_plain(std::string& out, std::uint16_t channel, method what) { method_frame f(out, channel, what); }

void append_channel_open(std::string& out, std::uint16_t channel) {
  method_frame f(out, channel, method::channel_open);
  f.short_string({});
}

void append_channel_close(std::string& out, std::uint16_t channel) {
  method_frame f(out, channel, method::channel_close);
  f.u16(200);
  f.short_string("OK");
  f.u32(0);
}

void append_flow_ok(std::string& out, std::uint16_t channel, bool active) {
  method_frame f(out, channel, method::channel_flow_ok);
  f.u8(active ? 1 : 0);
}

void append_exchange_declare(std::string& out, const exchange_spec& exchange, bool passive) {
  method_frame f(out, any_channel, method::exchange_declare);
  f.u16(0);
  f.short_string(exchange.name());
  f.short_string(exchange.type());
  f.u8(static_cast<std::uint8_t>((passive ? 1 : 0) | (exchange.is_durable() ? 2 : 0) |
                                 (exchange.is_auto_delete() ? 4 : 0)));
  append_table(f, exchange.args());
}

void append_queue_declare(std::string& out, std::string_view name, queue_flags flags, const arguments& args) {
  method_frame f(out, any_channel, method::queue_declare);
  f.u16(0);
  f.short_string(name);
  f.u8(static_cast<std::uint8_t>((flags.passive ? 1 : 0) | (flags.durable ? 2 : 0) | (flags.exclusive ? 4 : 0) |
                                 (flags.auto_delete ? 8 : 0)));
  append_table(f, args);
}

void append_queue_bind(std::string& out, std::string_view queue, std::string_view exchange, std::string_view key,
                       const arguments& args) {
  method_frame f(out, any_channel, method::queue_bind);
  f.u16(0);
  f.short_string(queue);
  f.short_string(exchange);
  f.short_string(key);
  f.u8(0);
  append_table(f, args);
}

void append_qos(std::string& out, std::uint16_t prefetch) {
  method_frame f(out, any_channel, method::basic_qos);
  f.u32(0);
  f.u16(prefetch);
  f.u8(0);
}

void append_consume(std::string& out, std::string_view queue, consume_flags flags, const arguments& args) {
  method_frame f(out, any_channel, method::basic_consume);
  f.u16(0);
  f.short_string(queue);
  f.short_string({});
  f.u8(static_cast<std::uint8_t>((flags.no_ack ? 2 : 0) | (flags.exclusive ? 4 : 0)));
  append_table(f, args);
}

void append_cancel(std::string& out, std::uint16_t channel, std::string_view consumer_tag) {
  method_frame f(out, channel, method::basic_cancel);
  f.short_string(consumer_tag);
  f.u8(1); // no answer wanted
}

void append_confirm_select(std::string& out, std::uint16_t channel) {
  method_frame f(out, channel, method::confirm_select);
  f.u8(0);
}

void append_ack(std::string& out, std::uint16_t channel, std::uint64_t tag) {
  method_frame f(out, channel, method::basic_ack);
  f.u64(tag);
  f.u8(0);
}

void append_reject(std::string& out, std::uint16_t channel, std::uint64_t tag, bool requeue) {
  method_frame f(out, channel, method::basic_reject);
  f.u64(tag);
  f.u8(requeue ? 1 : 0);
}

} // namespace millrace::rabbitmq::detail
