#pragma once

#include "transport/in_process/exchange.hpp"
#include "transport/in_process/queue.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail::in_process {

/// Who asked over direct reply-to and waits for answers; implemented by a channel.
class reply_target {
 public:
  virtual void deliver_reply(const message& m) = 0;

 protected:
  ~reply_target() = default;
};

/// What became of a publish.
struct publish_verdict {
  bool routed = false;
  bool accepted = true;
};

/// The exchanges, queues and bindings of one virtual host. Not thread-safe: the server locks.
class vhost final : public queue_host {
 public:
  vhost(runtime& rt, std::string name);

  // vhost.cpp: topology
  [[nodiscard]] answer<void> declare(exchange::settings declared, bool passive);
  /// An empty name is filled in.
  [[nodiscard]] answer<queue_ptr> declare(queue_settings declared, bool passive, std::uint64_t connection);
  [[nodiscard]] answer<void> bind(const std::string& queue, const std::string& exchange, std::string key,
                                  std::string arguments, std::uint64_t connection);
  /// The queue, if that connection may use it.
  [[nodiscard]] answer<queue_ptr> find(const std::string& queue, std::uint64_t connection) const;
  void cancel(consumer& c);
  /// Its exclusive queues go.
  void connection_ended(std::uint64_t connection);

  // vhost_routing.cpp: messages
  [[nodiscard]] answer<publish_verdict> publish(const message_ptr& m);
  void await_replies(const std::string& address, reply_target& by) { replies_[address] = &by; }
  void no_more_replies(const std::string& address) { replies_.erase(address); }
  [[nodiscard]] bool awaits_replies(const std::string& address) const { return replies_.contains(address); }
  /// Until no touched queue has anything to do.
  void run();
  /// What was due by now.
  void on_clock();
  [[nodiscard]] std::optional<time_point> next_due() const;

  [[nodiscard]] time_point now() const noexcept override { return runtime_->now(); }
  void dead_letter(const queue& from, const queued& m, std::string_view reason) override;
  void touched(queue& q) override;

 private:
  using queue_map = std::map<std::string, queue_ptr, std::less<>>;

  [[nodiscard]] exchange* find_exchange(std::string_view name) noexcept;
  [[nodiscard]] answer<void> check_new(const exchange::settings& declared) const;
  void remove(queue& q);
  void route(const exchange& by, const message& m, std::vector<queue*>& to);
  void release_delayed();
  void expire_queues();

  runtime* runtime_;
  std::string name_;
  std::map<std::string, exchange, std::less<>> exchanges_;
  queue_map queues_;
  std::map<std::string, reply_target*> replies_;
  std::multimap<time_point, message_ptr> delayed_; ///< of x-delayed-message exchanges
  std::deque<queue_ptr> touched_;
  std::uint64_t generated_ = 0;
};

} // namespace millrace::rabbitmq::detail::in_process
