#include "session/connection.hpp"

#include <millrace/log.hpp>
#include <millrace/nats/errors.hpp>

namespace millrace::nats::detail {

connection::~connection() = default;

void connection::attach(std::shared_ptr<transport> wire, deliver_from from) {
  wire_ = std::move(wire);
  from_ = from;
  mux_.emplace(runtime_, *wire_);
}

void connection::add(std::weak_ptr<connection_observer> observer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(observers_, [](const auto& one) { return one.expired(); });
  observers_.push_back(std::move(observer));
}

std::vector<std::shared_ptr<connection_observer>> connection::observers() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<connection_observer>> alive;
  for (const auto& one : observers_)
    if (std::shared_ptr<connection_observer> observer = one.lock()) alive.push_back(std::move(observer));
  return alive;
}

task<result<closed_broker>> connection::shutdown() {
  stopping_.store(true);
  closed_.store(true, std::memory_order_release);
  mux_->close(error(errc::closed, wire_->server().address));
  if (wire_->connected()) co_await mux_->stop(settings_.drain_timeout);
  result<void> drained = co_await wire_->close(settings_.drain_timeout);
  if (!drained) co_return fail(std::move(drained.error()));
  const transport_counters counted = wire_->counters();
  co_return closed_broker(counted.messages_sent, counted.messages_received, counted.connects);
}

void connection::on_disconnected(const error& why) noexcept {
  if (stopping_.load()) return;
  log(log_level::warning, "nats: " + why.message());
  for (const auto& observer : observers())
    observer->on_connection_lost(why);
}

void connection::on_reconnected() noexcept {
  if (stopping_.load()) return;
  log(log_level::info, "nats: reconnected to " + wire_->server().address);
  for (const auto& observer : observers())
    observer->on_connection_restored();
}

void connection::on_closed(const error& why) noexcept {
  if (stopping_.load()) return;
  closed_.store(true, std::memory_order_release);
  log(log_level::error, "nats: closed for good: " + why.message());
  mux_->close(why);
  for (const auto& observer : observers())
    observer->on_connection_gone(why);
}

void connection::on_server_error(std::string_view text) noexcept {
  log(log_level::warning, "nats: the server says: " + std::string(text));
}

} // namespace millrace::nats::detail
