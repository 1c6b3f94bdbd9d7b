#include "broker/subscription.hpp"

#include "session/connection.hpp"

namespace millrace::amqp::detail {
namespace {

class subscription final : public subscription_port {
 public:
  subscription(std::shared_ptr<hub> shared, std::shared_ptr<consumer> c) noexcept
      : hub_(std::move(shared)), consumer_(std::move(c)) {}
  ~subscription() override {
    hub_->post([c = consumer_](connection* on) { c->close(*on); });
  }

  task<void> stop() override {
    const auto stopped = std::make_shared<event>(hub_->clock);
    const auto c = consumer_;
    const bool posted = hub_->post([c, stopped](connection* on) {
      c->stop(*on);
      stopped->set();
    });
    if (posted) co_await stopped->wait();
  }

 private:
  std::shared_ptr<hub> hub_;
  std::shared_ptr<consumer> consumer_;
};

} // namespace

task<open_result> open_subscription(std::shared_ptr<hub> shared, source_spec source, sink& to) {
  if (auto checked = source.check(); !checked) co_return fail(std::move(checked).error());
  const std::string place = "address '" + source.address + "'";
  if (!source.durable_name.empty() && !shared->settings.container_id)
    co_return fail(errc::invalid_address, place + ": a durable subscription needs a container_id of the broker's");
  const auto seat = std::make_shared<consumer_seat>(shared, std::move(source));
  const auto c = std::make_shared<consumer>(seat, to);
  seat->owner = c;
  const auto opened = std::make_shared<outcome_of>(shared->clock);
  const time_point due = shared->clock.now() + shared->settings.operation_timeout;
  const bool posted = shared->post([c, opened, due](connection* on) {
    on->add(c);
    on->call_at(due);
    c->open_first(*on, opened, due);
  });
  if (!posted) co_return fail(errc::closed, place);
  co_await opened->done.wait();
  if (opened->failure) co_return fail(std::move(*opened->failure));
  co_return std::make_unique<subscription>(shared, c);
}

} // namespace millrace::amqp::detail
