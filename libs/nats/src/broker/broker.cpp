#include <millrace/nats/broker.hpp>

#include "protocol/address.hpp"
#include "session/connection.hpp"
#include "session/core_publisher.hpp"
#include "session/core_subscription.hpp"
#include "session/jetstream_publisher.hpp"
#include "session/pull_reader.hpp"
#include "transport/in_process/in_process_transport.hpp"
#include "transport/libnats/libnats_transport.hpp"

namespace millrace::nats {

std::string broker::describe() const { return detail::describe_addresses(addresses_); }

task<result<connected_broker>> broker::connect(runtime& rt) && {
  const broker self = std::move(*this);
  result<std::vector<detail::address>> servers = detail::parse_addresses(self.addresses_);
  if (!servers) co_return fail(std::move(servers.error()));
  const auto shared = std::make_shared<detail::connection>(rt, self.options_.settings());
  const std::weak_ptr<detail::connection_listener> listener = shared;
  result<std::shared_ptr<detail::transport>> wire =
      co_await detail::connect_libnats(rt, std::move(*servers), self.options_.settings(), listener);
  if (!wire) co_return fail(std::move(wire.error()));
  shared->attach(std::move(*wire), deliver_from::io_thread);
  co_return connected_broker(shared);
}

task<result<connected_broker>> broker::connect_in_process(runtime& rt) && {
  const broker self = std::move(*this);
  result<std::vector<detail::address>> servers = detail::parse_addresses(self.addresses_);
  if (!servers) co_return fail(std::move(servers.error()));
  const detail::connect_settings& settings = self.options_.settings();
  const auto shared = std::make_shared<detail::connection>(rt, settings);
  detail::in_process_options options;
  options.no_echo = settings.no_echo;
  options.inbox_prefix = settings.inbox_prefix;
  shared->attach(detail::make_in_process_transport(rt, options, *shared), deliver_from::anywhere);
  co_return connected_broker(shared);
}

connected_broker::connected_broker(std::shared_ptr<detail::connection> shared) noexcept : shared_(std::move(shared)) {}
connected_broker::connected_broker(connected_broker&&) noexcept = default;
connected_broker& connected_broker::operator=(connected_broker&&) noexcept = default;
connected_broker::~connected_broker() = default;

result<std::shared_ptr<publish_port>> connected_broker::pair(const publish&) {
  return std::make_shared<detail::core_publisher>(shared_);
}

result<std::shared_ptr<publish_port>> connected_broker::pair(const jetstream_publish& policy) {
  return std::make_shared<detail::jetstream_publisher>(shared_, policy.expected_stream());
}

task<open_result> connected_broker::open(const subject& source, sink& to, const open_options&) {
  result<void> checked = source.check();
  if (!checked) co_return fail(std::move(checked.error()));
  open_result opened = co_await detail::open_core(shared_, source.name(), source.queue(), to);
  co_return opened;
}

task<open_result> connected_broker::open(const wildcard& source, sink& to, const open_options&) {
  result<void> checked = source.check();
  if (!checked) co_return fail(std::move(checked.error()));
  open_result opened = co_await detail::open_core(shared_, source.name(), source.queue(), to);
  co_return opened;
}

task<open_result> connected_broker::open(const std::string& name, sink& to, const open_options& options) {
  const subject source(name);
  open_result opened = co_await open(source, to, options);
  co_return opened;
}

task<open_result> connected_broker::open(const jetstream& source, sink& to, const open_options& options) {
  result<void> checked = source.check();
  if (!checked) co_return fail(std::move(checked.error()));
  open_result opened = co_await detail::open_jetstream(shared_, source, to, options);
  co_return opened;
}

server_spec connected_broker::server() const {
  detail::server_facts facts = shared_->wire().server();
  return {std::move(facts.address), std::move(facts.version), facts.max_payload};
}

task<result<closed_broker>> connected_broker::shutdown() && {
  const std::shared_ptr<detail::connection> shared = std::move(shared_);
  result<closed_broker> closed = co_await shared->shutdown();
  co_return closed;
}

} // namespace millrace::nats
