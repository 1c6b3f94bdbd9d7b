#include <millrace/testing/test_service.hpp>

#include "harness.hpp"

#include <utility>

namespace millrace::testing {
namespace {

template <class Options>
result<std::unique_ptr<harness>> start_harness(const std::shared_ptr<service_core>& app, Options options) {
  auto made = std::make_unique<harness>(app, options);
  if (auto started = made->start(); !started) {
    harness::release(std::move(made));
    return fail(std::move(started).error());
  }
  return made;
}

std::unique_ptr<harness> must_start(result<std::unique_ptr<harness>> started) {
  if (!started) throw start_failed(std::move(started).error());
  return std::move(*started);
}

} // namespace

test_service::test_service(const std::shared_ptr<service_core>& app, in_process options)
    : harness_(must_start(start_harness(app, options))) {}
test_service::test_service(const std::shared_ptr<service_core>& app, live options)
    : harness_(must_start(start_harness(app, options))) {}
test_service::test_service(std::unique_ptr<harness> started) noexcept : harness_(std::move(started)) {}

result<test_service> test_service::start(const std::shared_ptr<service_core>& app, in_process options) {
  auto started = start_harness(app, options);
  if (!started) return fail(std::move(started).error());
  return test_service(std::move(*started));
}

result<test_service> test_service::start(const std::shared_ptr<service_core>& app, live options) {
  auto started = start_harness(app, options);
  if (!started) return fail(std::move(started).error());
  return test_service(std::move(*started));
}

test_service::test_service(test_service&&) noexcept = default;
test_service& test_service::operator=(test_service&& other) noexcept {
  if (this != &other) {
    harness::release(std::move(harness_));
    harness_ = std::move(other.harness_);
  }
  return *this;
}
test_service::~test_service() { harness::release(std::move(harness_)); }

test_broker test_service::broker_of_type(const void* type) const { return {*harness_, harness_->broker_of_type(type)}; }
test_broker test_service::broker(std::string_view label) const { return {*harness_, harness_->broker_called(label)}; }
test_broker test_service::broker() const { return {*harness_, harness_->only_broker()}; }

subscription_view test_service::subscription(std::string_view name) const {
  return {harness_->record(), harness_->subscription(std::nullopt, name)};
}
published_view test_service::published(std::string_view destination) const {
  return {harness_->record(), {{}, std::string(destination), false}};
}
published_view test_service::published_through(std::string_view output) const {
  return {harness_->record(), {{}, std::string(output), true}};
}

void test_service::settle() { harness_->time().settle(); }
void test_service::advance(duration d) { harness_->time().advance(d); }
void test_service::finish(task<void> work) { harness_->finish(std::move(work)); }
void test_service::wait_for(std::string_view subscription, std::size_t n) { harness_->wait_for(subscription, n); }
void test_service::wait_for_published(std::string_view destination, std::size_t n) {
  harness_->wait_for_published(destination, n);
}

health_report test_service::health() const { return harness_->run().health().read(); }
std::optional<error> test_service::failure() const { return harness_->run().failure(); }
void test_service::assert_running() const { harness_->assert_running(); }
result<void> test_service::shutdown() { return harness_->shutdown(); }
millrace::runtime& test_service::runtime() const noexcept { return harness_->time().rt(); }

} // namespace millrace::testing
