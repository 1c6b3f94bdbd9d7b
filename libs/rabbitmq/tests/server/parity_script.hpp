#pragma once

#include "protocol/content.hpp"
#include "server/raw_client.hpp"

#include <millrace/rabbitmq.hpp>

#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

/// What a scenario does, in the words of the protocol. Names of queues and exchanges get a prefix that no other run
/// has; it is taken out of the transcript.
class script {
 public:
  script(std::shared_ptr<net::transport> io, const std::string& uri, std::string prefix)
      : client_(std::move(io), uri), prefix_(std::move(prefix)) {}

  script& open(std::uint16_t channel) {
    return send(channel, 1, [](std::string& out) { detail::append_channel_open(out, 0); });
  }
  script& queue(std::uint16_t channel, const std::string& name, const arguments& args = {}) {
    detail::queue_flags flags;
    flags.durable = true;
    return queue(channel, name, flags, args);
  }
  script& queue(std::uint16_t channel, const std::string& name, detail::queue_flags flags, const arguments& args) {
    return send(channel, 1, [&](std::string& out) { detail::append_queue_declare(out, at(name), flags, args); });
  }
  script& look_for_queue(std::uint16_t channel, const std::string& name) {
    detail::queue_flags flags;
    flags.passive = true;
    return queue(channel, name, flags, {});
  }
  script& exchange(std::uint16_t channel, const std::string& name, const std::string& type, const arguments& args = {},
                   bool durable = true, bool passive = false) {
    exchange_spec spec(at(name), type);
    spec.durable(durable);
    for (const auto& [key, value] : args)
      std::visit([&](const auto& v) { spec.argument(key, v); }, value);
    return send(channel, 1, [&](std::string& out) { detail::append_exchange_declare(out, spec, passive); });
  }
  script& bind(std::uint16_t channel, const std::string& q, const std::string& x, const std::string& key,
               const arguments& args = {}) {
    return send(channel, 1, [&](std::string& out) { detail::append_queue_bind(out, at(q), at(x), key, args); });
  }
  script& prefetch(std::uint16_t channel, std::uint16_t n) {
    return send(channel, 1, [&](std::string& out) { detail::append_qos(out, n); });
  }
  script& consume(std::uint16_t channel, const std::string& q, std::size_t lines = 1, detail::consume_flags flags = {},
                  const arguments& args = {}) {
    const std::string name = q.starts_with("amq.") ? q : at(q);
    return send(channel, lines, [&](std::string& out) { detail::append_consume(out, name, flags, args); });
  }
  script& confirms(std::uint16_t channel) {
    return send(channel, 1, [](std::string& out) { detail::append_confirm_select(out, 0); });
  }
  script& plain(std::uint16_t channel, detail::method what) {
    return send(channel, 1, [&](std::string& out) { detail::append_plain(out, 0, what); });
  }
  script& ack(std::uint16_t channel, std::uint64_t tag, std::size_t lines = 0) {
    return send(channel, lines, [&](std::string& out) { detail::append_ack(out, 0, tag); });
  }
  script& reject(std::uint16_t channel, std::uint64_t tag, bool requeue, std::size_t lines = 0) {
    return send(channel, lines, [&](std::string& out) { detail::append_reject(out, 0, tag, requeue); });
  }
  script& close(std::uint16_t channel) {
    return send(channel, 1, [](std::string& out) { detail::append_channel_close(out, 0); });
  }
  /// To the default exchange with a name as the key, or to the exchange of that name.
  script& publish(std::uint16_t channel, const std::string& x, const std::string& key, const std::string& text,
                  std::size_t lines, detail::message_properties properties = {}, bool mandatory = true) {
    const std::string exchange_name = x.empty() ? x : at(x);
    const std::string routing_key = x.empty() ? at(key) : key;
    return send(channel, lines, [&](std::string& out) {
      detail::append_publish(out, 0, exchange_name, routing_key, mandatory, properties, as_bytes(text),
                             detail::largest_frame);
    });
  }
  script& expect(std::size_t lines) { return client_.expect(lines), *this; }
  script& send(std::uint16_t channel, std::size_t lines, const raw_client::build& what) {
    return client_.send(channel, lines, what), *this;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return prefix_ + name; }

  [[nodiscard]] std::vector<std::string> transcript() {
    auto lines = client_.said();
    for (std::string& text : lines) {
      for (std::size_t i = text.find(prefix_); i != std::string::npos; i = text.find(prefix_))
        text.erase(i, prefix_.size());
    }
    return lines;
  }

 private:
  raw_client client_;
  std::string prefix_;
};

} // namespace millrace::rabbitmq::testing
