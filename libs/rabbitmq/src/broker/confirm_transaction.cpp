#include "broker/ports.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <deque>
#include <vector>

namespace millrace::rabbitmq::detail {
namespace {

/// Awaits a publish that was started.
class end_of {
 public:
  explicit end_of(publish_operation& op) noexcept : operation_(&op) {}
  [[nodiscard]] bool await_ready() const noexcept { return operation_->done(); }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return operation_->wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return operation_->take(); }

 private:
  publish_operation* operation_;
};

class confirm_transaction final : public transaction_port {
 public:
  confirm_transaction(std::shared_ptr<lane_publisher> by, std::shared_ptr<lane> to, runtime& clock) noexcept
      : publisher_(std::move(by)), lane_(std::move(to)), clock_(&clock) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override {
    auto frames = publisher_->encode(message);
    if (!frames) return op.complete_now(fail(std::move(frames).error()));
    buffer_.push_back({std::move(*frames), std::string(message.destination)});
    op.complete_now(receipt{});
  }

  /// All are published before the first confirm is awaited; every one is awaited, and the first failure counts.
  task<result<void>> commit() override {
    std::deque<publish_operation> operations;
    for (buffered& m : buffer_)
      lane_->publish_frames(std::move(m.frames), m.routing_key, operations.emplace_back(clock_));
    buffer_.clear();
    result<void> first;
    for (publish_operation& op : operations) {
      end_of ended(op);
      auto answer = co_await ended;
      if (!answer && first) first = fail(std::move(answer).error());
    }
    co_return first;
  }

  task<result<void>> abort() override {
    buffer_.clear();
    co_return result<void>{};
  }

  void abandon() noexcept override { buffer_.clear(); }

 private:
  struct buffered {
    std::string frames;
    std::string routing_key;
  };
  std::shared_ptr<lane_publisher> publisher_;
  std::shared_ptr<lane> lane_;
  runtime* clock_;
  std::vector<buffered> buffer_;
};

} // namespace

task<result<std::unique_ptr<transaction_port>>> confirming_publisher::begin(transaction_kind /*kind*/) {
  if (out()->is_closed()) co_return fail(errc::closed, "begin a transaction");
  co_return std::make_unique<confirm_transaction>(shared_from_this(), out(), out()->clock());
}

} // namespace millrace::rabbitmq::detail
