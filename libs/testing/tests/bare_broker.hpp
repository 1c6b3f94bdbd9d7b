#pragma once

#include <millrace/broker.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace testing_test {

/// A transport that can do nothing by itself: no settlement, no delay, no count. Retries are copies of the service.
class bare_hub {
 public:
  std::multimap<std::string, millrace::sink*> sinks;
  bool closed = false;
};

class bare_message final : public millrace::incoming {
 public:
  explicit bare_message(const millrace::outgoing& m) : topic_(m.destination), text_(millrace::as_text(m.payload)) {
    if (m.headers != nullptr) headers_ = *m.headers;
    payload_ = millrace::as_bytes(text_);
    subject_ = topic_;
  }
  const millrace::header_map& headers() override { return headers_; }
  millrace::result<void> settle(millrace::settlement /*how*/) noexcept override {
    return millrace::fail(millrace::errc::unsupported, topic_);
  }
  void release() noexcept override { delete this; }

 private:
  std::string topic_;
  std::string text_;
  millrace::header_map headers_;
};

class bare_port final : public millrace::publish_port {
 public:
  explicit bare_port(std::shared_ptr<bare_hub> hub) : hub_(std::move(hub)) {}
  void publish(const millrace::outgoing& message, millrace::publish_operation& op) noexcept override {
    const std::string topic(message.destination);
    if (hub_->closed) return op.complete_now(millrace::fail(millrace::errc::closed, "publish to '" + topic + "'"));
    op.complete_now(millrace::receipt{});
    for (auto [to, end] = hub_->sinks.equal_range(topic); to != end; ++to) {
      millrace::incoming_batch batch;
      batch.push(*new bare_message(message));
      to->second->deliver(std::move(batch), millrace::deliver_from::anywhere);
    }
  }

 private:
  std::shared_ptr<bare_hub> hub_;
};

class bare_topic {
 public:
  explicit bare_topic(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] static millrace::result<void> check() { return {}; }
  [[nodiscard]] millrace::retry_path retries() const { return {millrace::retry_path::kind::addressed, name_}; }

 private:
  std::string name_;
};

class bare_subscription final : public millrace::subscription_port {
 public:
  bare_subscription(std::shared_ptr<bare_hub> hub, millrace::sink& to) : hub_(std::move(hub)), to_(&to) {}
  ~bare_subscription() override { forget(); }
  millrace::task<void> stop() override {
    forget();
    co_return;
  }
  bool redelivers() const noexcept override { return false; }

 private:
  void forget() noexcept {
    std::erase_if(hub_->sinks, [this](const auto& entry) { return entry.second == to_; });
  }
  std::shared_ptr<bare_hub> hub_;
  millrace::sink* to_;
};

struct bare_publish {
  struct options {};
  static constexpr bool can_request = false;
};

class bare_connection {
 public:
  struct closed_type {};
  using default_policy = bare_publish;
  using default_source = bare_topic;
  explicit bare_connection(std::shared_ptr<bare_hub> hub) : hub_(std::move(hub)) {}

  millrace::result<std::shared_ptr<millrace::publish_port>> pair(const bare_publish& /*policy*/) {
    return std::make_shared<bare_port>(hub_);
  }
  millrace::task<millrace::open_result> open(const bare_topic& source, millrace::sink& to,
                                             const millrace::open_options& /*options*/) {
    hub_->sinks.emplace(source.name(), &to);
    co_return std::make_unique<bare_subscription>(hub_, to);
  }
  millrace::task<millrace::result<closed_type>> shutdown() && {
    const auto hub = hub_;
    hub->closed = true;
    co_return closed_type{};
  }

 private:
  std::shared_ptr<bare_hub> hub_;
};

/// Only a server would do: there is no in-process mode.
class server_only_broker {
 public:
  using connected_type = bare_connection;
  [[nodiscard]] static std::string describe() { return "server-only://127.0.0.1"; }
  static millrace::task<millrace::result<bare_connection>> connect(millrace::runtime& /*rt*/) {
    co_return bare_connection(std::make_shared<bare_hub>());
  }
};

class bare_broker {
 public:
  using connected_type = bare_connection;
  [[nodiscard]] static std::string describe() { return "bare"; }
  static millrace::task<millrace::result<bare_connection>> connect(millrace::runtime& /*rt*/) {
    co_return bare_connection(std::make_shared<bare_hub>());
  }
  static millrace::task<millrace::result<bare_connection>> connect_in_process(millrace::runtime& rt) {
    return connect(rt);
  }
};

} // namespace testing_test
