#include <millrace/rabbitmq/broker.hpp>

#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "broker/tx_publisher.hpp"
#include "protocol/uri.hpp"
#include "session/session.hpp"
#include "transport/in_process/in_process_transport.hpp"

namespace millrace::rabbitmq {
namespace {

result<void> check_exchange(const std::string& name) {
  if (name.size() <= detail::most_short) return {};
  return fail(errc::invalid_options, "a publisher's exchange has a name longer than 255 bytes");
}

task<result<connected_broker>> connect_over(runtime& rt, detail::broker_settings settings, detail::target to,
                                            std::shared_ptr<net::transport> io) {
  const auto shared = std::make_shared<detail::link>(rt, std::move(settings), io);
  const auto live = std::make_shared<detail::session>(shared, io, std::move(to));
  auto connected = co_await live->connect();
  if (!connected) co_return fail(std::move(connected).error());
  co_return connected_broker(live);
}

} // namespace

std::string broker::describe() const { return detail::describe_uri(settings_.uri); }

task<result<connected_broker>> broker::connect(runtime& rt) && {
  detail::broker_settings settings = std::move(settings_);
  auto to = detail::parse_uri(settings.uri);
  if (!to) co_return fail(std::move(to).error());
  settings.uri.clear(); // credentials are kept in one place
  const tls_options* tls = nullptr;
  if (to->tls) tls = &settings.tls;
  const auto io = net::make_tcp_transport(tls, detail::read_room);
  auto connected = co_await connect_over(rt, std::move(settings), std::move(*to), io);
  co_return connected;
}

task<result<connected_broker>> broker::connect_in_process(runtime& rt) && {
  detail::broker_settings settings = std::move(settings_);
  auto to = detail::parse_uri(settings.uri);
  if (!to) co_return fail(std::move(to).error());
  settings.uri.clear();
  settings.heartbeat = duration::zero(); // a connection in process is not lost
  const auto io = detail::make_in_process_transport(rt, to->hosts.front().text());
  auto connected = co_await connect_over(rt, std::move(settings), std::move(*to), io);
  co_return connected;
}

connected_broker::connected_broker(std::shared_ptr<detail::session> live) noexcept : live_(std::move(live)) {}
connected_broker::connected_broker(connected_broker&&) noexcept = default;
connected_broker& connected_broker::operator=(connected_broker&&) noexcept = default;
connected_broker::~connected_broker() = default;

result<std::shared_ptr<publish_port>> connected_broker::pair(const publish& policy) {
  if (auto fits = check_exchange(policy.exchange_name()); !fits) return fail(std::move(fits).error());
  return std::make_shared<detail::lane_publisher>(live_->plain(), policy.exchange_name(), policy.defaults(), false);
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const confirms& policy) {
  if (auto fits = check_exchange(policy.exchange_name()); !fits) return fail(std::move(fits).error());
  auto own = std::make_shared<detail::confirm_lane>(live_->shared(), policy.window_size());
  return std::make_shared<detail::confirming_publisher>(std::move(own), policy.exchange_name(), policy.defaults(),
                                                        policy.is_mandatory());
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const transactions& policy) {
  if (auto fits = check_exchange(policy.exchange_name()); !fits) return fail(std::move(fits).error());
  auto own = std::make_shared<detail::tx_lane>(live_->shared());
  return std::make_shared<detail::tx_publisher>(std::move(own), live_->plain(), policy.exchange_name(),
                                                policy.defaults());
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const request& policy) {
  if (auto fits = check_exchange(policy.exchange_name()); !fits) return fail(std::move(fits).error());
  auto own = std::make_shared<detail::request_lane>(live_->shared());
  return std::make_shared<detail::requester>(std::move(own), policy.exchange_name(), policy.defaults());
}

task<open_result> connected_broker::open(const queue& source, sink& to, const open_options& options) {
  return detail::open_subscription(live_->shared(), source.spec(), to, options);
}

task<open_result> connected_broker::open(const quorum_queue& source, sink& to, const open_options& options) {
  return detail::open_subscription(live_->shared(), source.spec(), to, options);
}

task<open_result> connected_broker::open(const stream_queue& source, sink& to, const open_options& options) {
  return detail::open_subscription(live_->shared(), source.spec(), to, options);
}

task<result<closed_broker>> connected_broker::shutdown() && {
  const auto live = std::move(live_);
  const bool handshake = co_await live->shutdown();
  co_return closed_broker(handshake);
}

} // namespace millrace::rabbitmq
