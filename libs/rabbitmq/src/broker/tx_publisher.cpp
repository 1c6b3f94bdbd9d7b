#include "broker/tx_publisher.hpp"

#include <millrace/rabbitmq/errors.hpp>

namespace millrace::rabbitmq::detail {
namespace {

class server_transaction final : public transaction_port {
 public:
  server_transaction(std::shared_ptr<lane_publisher> by, std::shared_ptr<tx_lane> to, std::uint32_t generation) noexcept
      : publisher_(std::move(by)), lane_(std::move(to)), generation_(generation) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override {
    auto frames = publisher_->encode(message);
    if (!frames) return op.complete_now(fail(std::move(frames).error()));
    lane_->stage(std::move(*frames), message.destination, generation_, op);
  }
  task<result<void>> commit() override { return lane_->finish(true, generation_); }
  task<result<void>> abort() override { return lane_->finish(false, generation_); }
  void abandon() noexcept override { lane_->roll_back(generation_); }

 private:
  std::shared_ptr<lane_publisher> publisher_;
  std::shared_ptr<tx_lane> lane_;
  std::uint32_t generation_;
};

} // namespace

task<result<std::unique_ptr<transaction_port>>> tx_publisher::begin(transaction_kind kind) {
  if (kind == transaction_kind::owned) {
    co_return fail(millrace::errc::unsupported, "a server transaction belongs to its publisher");
  }
  const auto by = shared_from_this();
  const auto to = own_;
  auto began = co_await to->begin();
  if (!began) co_return fail(std::move(began).error());
  co_return std::make_unique<server_transaction>(by, to, *began);
}

} // namespace millrace::rabbitmq::detail
