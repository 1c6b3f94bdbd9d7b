#include "transport/in_process/server_frames.hpp"

namespace millrace::rabbitmq::detail::in_process {
namespace {

constexpr std::uint16_t channel_max = 2047;

void append_content(std::string& out, std::uint16_t channel, const property_list& properties, std::string_view body,
                    std::uint32_t frame_max) {
  frame_writer header(out, frame_type::header, channel);
  header.u32(60 << 16);
  header.u64(body.size());
  out += properties.bytes();
  header.end();
  while (!body.empty()) {
    const std::string_view part = body.substr(0, frame_max - frame_overhead);
    frame_writer frame(out, frame_type::body, channel);
    out += part;
    frame.end();
    body.remove_prefix(part.size());
  }
}

} // namespace

void append_start(std::string& out) {
  server_method f(out, 0, method::connection_start);
  f.u8(0);
  f.u8(9);
  f.u32(0);
  f.long_string("PLAIN EXTERNAL");
  f.long_string("en_US");
  f.end();
}

/// Without heartbeats: a connection in process is not lost.
void append_tune(std::string& out) {
  server_method f(out, 0, method::connection_tune);
  f.u16(channel_max);
  f.u32(largest_frame);
  f.u16(0);
  f.end();
}

void append_close(std::string& out, std::uint16_t channel, const refusal& why) {
  server_method f(out, channel, channel == 0 ? method::connection_close : method::channel_close);
  f.u16(why.code);
  f.short_string(std::string_view(why.text).substr(0, most_short));
  f.u32(0);
  f.end();
}

void append_declared(std::string& out, std::uint16_t channel, std::string_view queue, std::size_t ready,
                     std::size_t consumers) {
  server_method f(out, channel, method::queue_declare_ok);
  f.short_string(queue);
  f.u32(static_cast<std::uint32_t>(ready));
  f.u32(static_cast<std::uint32_t>(consumers));
  f.end();
}

void append_consuming(std::string& out, std::uint16_t channel, method what, std::string_view tag) {
  server_method f(out, channel, what);
  f.short_string(tag);
  f.end();
}

void append_confirm(std::string& out, std::uint16_t channel, std::uint64_t number, bool accepted) {
  server_method f(out, channel, accepted ? method::basic_ack : method::basic_nack);
  f.u64(number);
  f.u8(0);
  f.end();
}

void append_deliver(std::string& out, std::uint16_t channel, const delivered& how, const message& m,
                    const property_list& properties, std::uint32_t frame_max) {
  server_method f(out, channel, method::basic_deliver);
  f.short_string(how.consumer_tag);
  f.u64(how.tag);
  f.u8(how.redelivered ? 1 : 0);
  f.short_string(m.exchange);
  f.short_string(m.routing_key);
  f.end();
  append_content(out, channel, properties, m.body, frame_max);
}

void append_return(std::string& out, std::uint16_t channel, const message& m, std::uint32_t frame_max) {
  server_method f(out, channel, method::basic_return);
  f.u16(312);
  f.short_string("NO_ROUTE");
  f.short_string(m.exchange);
  f.short_string(m.routing_key);
  f.end();
  append_content(out, channel, m.properties, m.body, frame_max);
}

} // namespace millrace::rabbitmq::detail::in_process
