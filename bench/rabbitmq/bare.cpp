// The other side: a plain program on rabbitmq-c, as its own examples are written.
#include "meter.hpp"
#include "rabbitmqc.hpp"

#include <cstdio>
#include <cstdlib>

namespace bench::bare {
namespace {

constexpr amqp_boolean_t no = 0;
constexpr amqp_boolean_t yes = 1;

amqp_bytes_t bytes_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

void publish_one(const connection& to, const char* queue, bool mandatory, std::string_view body) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties.delivery_mode = 1;
  check(amqp_basic_publish(to.get(), 1, amqp_empty_bytes, amqp_cstring_bytes(queue), mandatory ? yes : no, no,
                           &properties, bytes_of(body)),
        "publish");
}

/// Reads one frame; answers how many messages it confirms, given how many were before.
std::uint64_t confirmed_after(const connection& at, std::uint64_t before) {
  amqp_frame_t frame;
  check(amqp_simple_wait_frame(at.get(), &frame), "confirm");
  if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
    std::fprintf(stderr, "bench_rabbitmq: the server refused a message\n");
    std::_Exit(1);
  }
  const auto* ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
  const std::uint64_t now = ack->multiple != 0 ? ack->delivery_tag : before + 1;
  amqp_maybe_release_buffers(at.get());
  return now;
}

/// Empty, whatever was there.
void declare(const connection& at, const char* queue) {
  amqp_queue_delete(at.get(), 1, amqp_cstring_bytes(queue), no, no);
  check(amqp_get_rpc_reply(at.get()), "delete");
  amqp_queue_declare(at.get(), 1, amqp_cstring_bytes(queue), no, no, no, no, amqp_empty_table);
  check(amqp_get_rpc_reply(at.get()), "declare");
}

} // namespace

int publish(const run_options& options, std::size_t size) {
  connection to(options.url);
  meter m(options.messages);
  m.begin();
  for (std::size_t i = 0; i < options.messages; ++i)
    publish_one(to, publish_queue, false, payload(size));
  to.close();
  m.end();
  m.report();
  return 0;
}

/// As many in flight as the window allows; tags may be confirmed out of order, only their number counts.
int confirms(const run_options& options) {
  connection to(options.url);
  amqp_confirm_select(to.get(), 1);
  check(amqp_get_rpc_reply(to.get()), "confirm.select");
  meter m(options.messages);
  m.begin();
  std::uint64_t confirmed = 0;
  for (std::size_t sent = 0; confirmed < options.messages;) {
    if (sent < options.messages && sent - confirmed < window) {
      publish_one(to, publish_queue, true, payload(16));
      ++sent;
    } else {
      confirmed = confirmed_after(to, confirmed);
    }
  }
  m.end();
  m.report();
  return 0;
}

int consume(const run_options& options) {
  connection from(options.url);
  check(amqp_basic_qos(from.get(), 1, 0, prefetch, no) != nullptr ? 0 : -1, "qos");
  amqp_basic_consume(from.get(), 1, amqp_cstring_bytes(consume_queue), amqp_empty_bytes, no, no, no, amqp_empty_table);
  check(amqp_get_rpc_reply(from.get()), "consume");
  meter m(options.messages);
  while (!m.over()) {
    amqp_maybe_release_buffers(from.get());
    amqp_envelope_t envelope;
    check(amqp_consume_message(from.get(), &envelope, nullptr, 0), "deliver");
    check(amqp_basic_ack(from.get(), 1, envelope.delivery_tag, no), "ack");
    m.message(envelope.message.body.len);
    amqp_destroy_envelope(&envelope);
  }
  m.report();
  return 0;
}

int fill(const run_options& options) {
  connection to(options.url);
  declare(to, publish_queue);
  declare(to, consume_queue);
  for (std::size_t i = 0; i < options.messages; ++i)
    publish_one(to, consume_queue, false, payload(16));
  to.close();
  return 0;
}

} // namespace bench::bare
