#include <millrace/pubsub/broker.hpp>

#include "protocol/names.hpp"
#include "session/connection.hpp"
#include "session/opening.hpp"
#include "session/publisher_port.hpp"
#include "transport/grpc/grpc_transport.hpp"
#include "transport/in_process/in_process_transport.hpp"

namespace millrace::pubsub {
namespace {

result<void> check(const detail::settings& settings) {
  if (const auto fault = detail::fault_of_project(settings.project); !fault.empty())
    return fail(errc::connect, "project '" + settings.project + "': " + std::string(fault));
  return {};
}

} // namespace

broker::broker(std::string project) : inside_(std::make_shared<detail::cloud_host>()) {
  settings_.project = std::move(project);
}

std::string broker::describe() const { return detail::target_of(settings_).host; }

task<result<connected_broker>> broker::connect(runtime& rt) && {
  const broker self = std::move(*this);
  result<void> checked = check(self.settings_);
  if (checked) checked = self.inside_->choose(detail::cloud_host::mode::live);
  if (!checked) co_return fail(std::move(checked.error()));
  auto wire = co_await detail::connect_grpc(rt, self.settings_);
  if (!wire) co_return fail(std::move(wire.error()));
  const auto shared = std::make_shared<detail::connection>(rt, self.settings_);
  shared->attach(std::move(*wire));
  co_return connected_broker(shared);
}

task<result<connected_broker>> broker::connect_in_process(runtime& rt) && {
  const broker self = std::move(*this);
  result<void> checked = check(self.settings_);
  if (checked) checked = self.inside_->choose(detail::cloud_host::mode::in_process);
  if (!checked) co_return fail(std::move(checked.error()));
  detail::settings settings = self.settings_;
  settings.settle_delay = {}; // a test waits for no timer
  const auto shared = std::make_shared<detail::connection>(rt, settings);
  shared->attach(detail::make_in_process_transport(rt, self.inside_));
  co_return connected_broker(shared);
}

connected_broker::connected_broker(std::shared_ptr<detail::connection> shared) noexcept : shared_(std::move(shared)) {}
connected_broker::connected_broker(connected_broker&&) noexcept = default;
connected_broker& connected_broker::operator=(connected_broker&&) noexcept = default;
connected_broker::~connected_broker() {
  if (shared_ != nullptr) shared_->abandon();
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const millrace::pubsub::publish& policy) {
  return std::make_shared<detail::publisher_port>(shared_, policy);
}

result<void> connected_broker::declare(const subscription& source, const open_options& options) {
  return detail::declare_registration(*shared_, source, options);
}

task<open_result> connected_broker::open(const subscription& source, sink& to, const open_options& options) {
  open_result opened = co_await detail::open_subscription(shared_, source, options, to);
  co_return opened;
}

task<result<closed_broker>> connected_broker::shutdown() && {
  const std::shared_ptr<detail::connection> shared = std::move(shared_);
  result<closed_broker> closed = co_await shared->shutdown();
  co_return closed;
}

} // namespace millrace::pubsub
