#include "broker/subscription.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <random>

namespace millrace::rabbitmq::detail {
namespace {

class subscription final : public subscription_port {
 public:
  subscription(std::shared_ptr<link> shared, std::shared_ptr<consumer> c) noexcept
      : link_(std::move(shared)), consumer_(std::move(c)) {}
  ~subscription() override {
    link_->post([c = consumer_](session* s) { c->close(*s); });
  }

  task<void> stop() override {
    const auto stopped = std::make_shared<event>(link_->clock);
    const auto c = consumer_;
    const bool posted = link_->post([c, stopped](session* s) {
      c->stop(*s);
      stopped->set();
    });
    if (posted) co_await stopped->wait();
  }

 private:
  std::shared_ptr<link> link_;
  std::shared_ptr<consumer> consumer_;
};

} // namespace

task<open_result> open_subscription(std::shared_ptr<link> shared, queue_spec queue, sink& to, open_options options) {
  opening_defaults defaults;
  defaults.mode = shared->settings.mode;
  defaults.prefetch = shared->settings.prefetch;
  auto plan = plan_opening(queue, options, defaults);
  if (!plan) co_return fail(std::move(plan).error());
  const std::string name = queue.name;
  const bool declares = queue.mode.value_or(defaults.mode) == topology::declare;
  const auto seat = std::make_shared<consumer_seat>(shared, std::move(queue));
  if (seat->queue.type == queue_spec::kind::quorum) seat->most_attempts = options.max_attempts.value_or(0);
  const auto c = std::make_shared<consumer>(seat, to, std::move(*plan), declares, std::random_device{}());
  const auto opened = std::make_shared<outcome_of>(shared->clock);
  const time_point due = shared->clock.now() + shared->settings.operation_timeout;
  const bool posted = shared->post([c, opened, due](session* s) {
    s->add(c);
    s->call_at(due);
    c->open_first(*s, opened, due);
  });
  if (!posted) co_return fail(errc::closed, "queue '" + name + "'");
  co_await opened->done.wait();
  if (opened->failure) co_return fail(std::move(*opened->failure));
  co_return std::make_unique<subscription>(shared, c);
}

} // namespace millrace::rabbitmq::detail
