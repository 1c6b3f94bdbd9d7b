#include "hub.hpp"

#include <millrace/memory.hpp>

#include <algorithm>

namespace millrace::memory {
namespace {

constexpr std::size_t default_window = 64;

/// Buffers until the commit.
class transaction final : public transaction_port {
 public:
  explicit transaction(std::shared_ptr<hub> shared) noexcept : hub_(std::move(shared)) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override {
    if (hub_->closed())
      return op.complete_now(fail(errc::closed, "publish to '" + std::string(message.destination) + "'"));
    if (message.destination.empty()) return op.complete_now(fail(errc::invalid_options, "publish to an empty topic"));
    buffered_message& m = messages_.emplace_back();
    m.destination = message.destination;
    m.payload = as_text(message.payload);
    if (message.headers != nullptr) m.headers = *message.headers;
    op.complete_now(receipt{});
  }
  task<result<void>> commit() override {
    auto done = hub_->publish_all(messages_);
    messages_.clear();
    co_return done;
  }
  task<result<void>> abort() override {
    messages_.clear();
    co_return result<void>{};
  }
  void abandon() noexcept override { messages_.clear(); }

 private:
  std::shared_ptr<hub> hub_;
  std::vector<buffered_message> messages_;
};

/// Gives a request back at the end of its scope.
class asking {
 public:
  asking(hub& shared, pending_request& request) noexcept : hub_(&shared), request_(&request) {}
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;
  ~asking() { hub_->end_request(*request_); }
  pending_request* operator->() const noexcept { return request_; }

 private:
  hub* hub_;
  pending_request* request_;
};

class port final : public publish_port {
 public:
  explicit port(std::shared_ptr<hub> shared) noexcept : hub_(std::move(shared)) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override {
    auto sequence = hub_->publish(message, recent_);
    if (sequence) [[likely]]
      op.accept(*sequence);
    else
      op.complete_now(fail(std::move(sequence).error()));
  }

  task<result<std::unique_ptr<transaction_port>>> begin(transaction_kind /*kind*/) override {
    if (hub_->closed()) co_return fail(errc::closed, "begin a transaction");
    co_return std::make_unique<transaction>(hub_);
  }

  task<result<reply_message>> request(outgoing message, duration timeout) override {
    const std::string destination(message.destination);
    const time_point due = hub_->rt().now() + timeout;
    const auto asked = hub_->ask(message, recent_);
    if (!asked) co_return fail(asked.error());
    const asking request(*hub_, **asked);
    const bool answered = co_await request->answered.wait_until(due);
    if (!answered) co_return fail(errc::timeout, "request to '" + destination + "'");
    if (hub_->closed()) co_return fail(errc::closed, "request to '" + destination + "'");
    co_return std::move(request->answer);
  }

 private:
  std::shared_ptr<hub> hub_;
  topic_state* recent_ = nullptr;
};

class subscription final : public subscription_port {
 public:
  subscription(std::shared_ptr<hub> shared, std::unique_ptr<consumer> c) noexcept
      : hub_(std::move(shared)), consumer_(std::move(c)) {}
  ~subscription() override {
    if (consumer_) hub_->remove(std::move(consumer_));
  }

  task<void> stop() override {
    hub_->close_consumer(*consumer_);
    co_await consumer_->quiet.wait();
  }

 private:
  std::shared_ptr<hub> hub_;
  std::unique_ptr<consumer> consumer_;
};

} // namespace

result<void> topic::check() const {
  if (name_.empty()) return fail(errc::invalid_options, "a topic without a name");
  if (is_inbox(name_))
    return fail(errc::invalid_options, "topic '" + name_ + "': such names are for answers to requests");
  return {};
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const millrace::memory::publish& /*policy*/) {
  return std::make_shared<port>(hub_);
}

task<open_result> connected_broker::open(const topic& source, sink& to, const open_options& options) {
  if (auto checked = source.check(); !checked) co_return fail(std::move(checked).error());
  const std::size_t window = source.window_size() > 0
                                 ? source.window_size()
                                 : std::max<std::size_t>(default_window, 2 * std::size_t{options.workers});
  auto subscribed = hub_->subscribe(source, to, window, options.workers);
  if (!subscribed) co_return fail(std::move(subscribed).error());
  co_return std::make_unique<subscription>(hub_, std::move(*subscribed));
}

task<result<closed_broker>> connected_broker::shutdown() && { co_return hub_->close(); }

broker::broker(std::string name) : name_(std::move(name)), hub_(std::make_shared<hub>()) {}

broker& broker::retain(retention keep) & {
  hub_->retain(keep);
  return *this;
}

broker& broker::queue_limit(std::size_t messages) & {
  hub_->queue_limit(messages);
  return *this;
}

task<result<connected_broker>> broker::connect(runtime& rt) && {
  const auto shared = hub_;
  auto connected = shared->connect(rt);
  if (!connected) co_return fail(std::move(connected).error());
  co_return connected_broker(shared);
}

task<result<connected_broker>> broker::connect_in_process(runtime& rt) && { return std::move(*this).connect(rt); }

} // namespace millrace::memory
