#include "broker/ports.hpp"

#include <millrace/amqp/errors.hpp>

namespace millrace::amqp::detail {
namespace {

class peer_transaction final : public transaction_port {
 public:
  peer_transaction(std::shared_ptr<publisher_port> by, std::shared_ptr<coordinator> over,
                   std::shared_ptr<open_work> work)
      : publisher_(std::move(by)), coordinator_(std::move(over)), work_(std::move(work)) {}

  void publish(const outgoing& message, publish_operation& op) noexcept override {
    publisher_->publish_in(work_, message, op);
  }
  task<result<void>> commit() override { return end(true); }
  task<result<void>> abort() override { return end(false); }
  void abandon() noexcept override {
    if (work_) coordinator_->abandon(work_);
  }

 private:
  task<result<void>> end(bool commit) {
    const auto over = coordinator_;
    auto work = std::exchange(work_, nullptr);
    if (!work) co_return fail(errc::transaction, "it was ended already");
    auto done = co_await over->discharge(std::move(work), commit);
    co_return done;
  }
  std::shared_ptr<publisher_port> publisher_;
  std::shared_ptr<coordinator> coordinator_;
  std::shared_ptr<open_work> work_;
};

} // namespace

outbound_message publisher_port::outbound(const outgoing& message) const noexcept {
  outbound_message out;
  out.options = static_cast<const message_options*>(message.options);
  out.defaults = &defaults_;
  out.headers = message.headers;
  out.payload = message.payload;
  return out;
}

void publisher_port::publish(const outgoing& message, publish_operation& op) noexcept {
  publish_in(nullptr, message, op);
}

void publisher_port::publish_in(std::shared_ptr<open_work> work, const outgoing& message,
                                publish_operation& op) noexcept {
  const time_point due = hub_->clock.now() + hub_->settings.publish_timeout;
  hub_->publish(kind_, message.destination, outbound(message), due, op, std::move(work));
}

task<result<reply_message>> requester_port::request(outgoing message, duration timeout) {
  const auto replies = replies_; // it and the defaults outlive this port
  const message_options own_defaults = request_defaults_;
  outbound_message out = outbound(message);
  out.defaults = &own_defaults;
  auto reply = co_await replies->request(kind(), std::string(message.destination), out, timeout);
  co_return reply;
}

task<result<std::unique_ptr<transaction_port>>> transactional_port::begin(transaction_kind kind) {
  if (kind == transaction_kind::owned)
    co_return fail(millrace::errc::unsupported, "a transaction of the peer belongs to its publisher");
  const auto by = shared_from_this();
  auto work = co_await coordinator_->declare();
  if (!work) co_return fail(std::move(work).error());
  co_return std::make_unique<peer_transaction>(by, by->coordinator_, std::move(*work));
}

} // namespace millrace::amqp::detail
