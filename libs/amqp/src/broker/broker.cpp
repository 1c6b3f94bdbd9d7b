#include <millrace/amqp/broker.hpp>

#include "broker/meeting_point.hpp"
#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/url.hpp"
#include "session/connection.hpp"
#include "transport/in_process/memory_transport.hpp"

namespace millrace::amqp {
namespace {

using detail::meeting_point;

result<void> check(const detail::broker_settings& settings) {
  if (settings.max_frame_size < 512) return fail(errc::connect, "max_frame_size is at least 512");
  if (settings.container_id && settings.container_id->empty()) return fail(errc::connect, "the container id is empty");
  return {};
}

std::shared_ptr<net::transport> make_transport(runtime& rt, const detail::broker_settings& settings, bool tls,
                                               meeting_point::mode how) {
  if (how == meeting_point::mode::in_process) return detail::make_local_transport(rt);
  return net::make_tcp_transport(tls ? &settings.tls : nullptr, 128UL * 1024);
}

task<result<std::shared_ptr<detail::connection>>> dial(runtime& rt, detail::broker_settings settings,
                                                       meeting_point::mode how) {
  if (auto checked = check(settings); !checked) co_return fail(std::move(checked).error());
  auto to = detail::parse_url(settings.url);
  if (!to) co_return fail(std::move(to).error());
  settings.url.clear(); // credentials are kept in one place
  if (how == meeting_point::mode::in_process) {
    to->login.reset();
    settings.login.reset();
    settings.idle_timeout = duration::zero(); // nobody is silent there
  }
  const auto io = make_transport(rt, settings, to->tls, how);
  const auto shared = std::make_shared<detail::hub>(rt, std::move(settings), io);
  auto live = std::make_shared<detail::connection>(shared, io, std::move(*to));
  auto connected = co_await live->connect();
  if (!connected) co_return fail(std::move(connected).error());
  co_return live;
}

task<result<connected_broker>> connect_as(runtime& rt, detail::broker_settings settings,
                                          std::shared_ptr<meeting_point> at, meeting_point::mode how) {
  while (true) {
    auto turn = at->arrive(rt, how);
    if (!turn) co_return fail(std::move(turn).error());
    if (turn->live) co_return connected_broker(turn->live);
    if (!turn->wait) break;
    co_await turn->wait->wait();
  }
  auto live = co_await dial(rt, std::move(settings), how);
  at->leave(live ? *live : nullptr);
  if (!live) co_return fail(std::move(live).error());
  co_return connected_broker(std::move(*live));
}

} // namespace

broker::broker(std::string url) : meeting_(std::make_shared<meeting_point>()) { settings_.url = std::move(url); }

std::string broker::describe() const { return detail::describe_url(settings_.url); }

task<result<connected_broker>> broker::connect(runtime& rt) && {
  return connect_as(rt, std::move(settings_), std::move(meeting_), meeting_point::mode::server);
}

task<result<connected_broker>> broker::connect_in_process(runtime& rt) && {
  return connect_as(rt, std::move(settings_), std::move(meeting_), meeting_point::mode::in_process);
}

connected_broker::connected_broker(std::shared_ptr<detail::connection> live) noexcept : live_(std::move(live)) {}
connected_broker::connected_broker(connected_broker&&) noexcept = default;
connected_broker& connected_broker::operator=(connected_broker&&) noexcept = default;
connected_broker::~connected_broker() = default;

result<std::shared_ptr<publish_port>> connected_broker::pair(const publish& policy) {
  return std::make_shared<detail::requester_port>(live_->shared(), live_->replies(), policy.defaults(),
                                                  policy.target());
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const transactional_publish& policy) {
  return std::make_shared<detail::transactional_port>(live_->shared(), policy.defaults(), policy.target());
}

task<open_result> connected_broker::open(const queue& source, sink& to, const open_options& /*options*/) {
  return detail::open_subscription(live_->shared(), source.spec(), to);
}

task<open_result> connected_broker::open(const topic& source, sink& to, const open_options& /*options*/) {
  return detail::open_subscription(live_->shared(), source.spec(), to);
}

task<open_result> connected_broker::open(const raw& source, sink& to, const open_options& /*options*/) {
  return detail::open_subscription(live_->shared(), source.spec(), to);
}

task<open_result> connected_broker::open(const std::string& address, sink& to, const open_options& /*options*/) {
  return detail::open_subscription(live_->shared(), raw(address).spec(), to);
}

std::string connected_broker::peer() const {
  const std::scoped_lock lock(live_->shared()->mutex);
  return live_->shared()->peer.text();
}

task<result<closed_broker>> connected_broker::shutdown() && {
  const auto live = std::move(live_);
  auto closed = co_await live->shutdown();
  if (!closed) co_return fail(std::move(closed).error());
  co_return closed_broker(*closed);
}

} // namespace millrace::amqp
