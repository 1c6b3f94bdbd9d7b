#include "session/core_subscription.hpp"

#include <millrace/nats/errors.hpp>

#include <utility>

namespace millrace::nats::detail {

core_reader::core_reader(std::shared_ptr<connection> shared, sink& to, std::string subject)
    : from_(shared->delivers_from()), pool_(core_pool::make(shared, shared->settings().pending_limit)), sink_(to),
      subject_(std::move(subject)) {}

void core_reader::on_message(received message, bool more) noexcept {
  if (core_delivery* const node = pool_->take(); node != nullptr) [[likely]] {
    node->load(std::move(message));
    burst_.push(*node);
  } else {
    sink_.dropped(1);
  }
  if (!more || burst_.size() >= core_pool::together) hand_over();
}

void core_reader::hand_over() noexcept {
  if (!burst_.empty()) sink_.deliver(std::exchange(burst_, {}), from_);
}

void core_reader::on_dropped(std::uint64_t count) noexcept {
  if (const call_gate::pass pass(gate_); pass) sink_.dropped(count);
}

void core_reader::on_connection_lost(const error& why) noexcept {
  if (const call_gate::pass pass(gate_); pass) sink_.interrupted(error(why).at("subject '" + subject_ + "'"));
}

void core_reader::on_connection_restored() noexcept {
  if (const call_gate::pass pass(gate_); pass) sink_.resumed();
}

void core_reader::on_connection_gone(const error& why) noexcept {
  if (const call_gate::pass pass(gate_); pass) sink_.ended(error(why).at("subject '" + subject_ + "'"));
}

core_subscription::core_subscription(std::shared_ptr<connection> shared, std::shared_ptr<core_reader> reader,
                                     std::unique_ptr<wire_subscription> wire) noexcept
    : shared_(std::move(shared)), reader_(std::move(reader)), wire_(std::move(wire)) {}

core_subscription::~core_subscription() {
  reader_->close();
  wire_.reset();
}

task<void> core_subscription::stop() {
  co_await wire_->stop(shared_->settings().drain_timeout);
  reader_->close();
}

namespace {

/// The subscription's own permission violation; another one's is not this one's failure.
result<void> check_accepted(const std::string& text, const std::string& subject) {
  if (text.empty() || text.find("Subscription to \"" + subject + '"') == std::string::npos) return {};
  return fail(error(errc::subscribe, "subject '" + subject + "'").from_server(0, text));
}

} // namespace

task<open_result> open_core(std::shared_ptr<connection> shared, std::string subject, std::string queue, sink& to) {
  const auto place = "subject '" + subject + "'";
  if (shared->closed()) co_return fail(errc::closed, place);
  const auto reader = std::make_shared<core_reader>(shared, to, subject);
  transport& wire = shared->wire();
  (void)wire.take_last_error();
  auto made = wire.subscribe(subject, queue, *reader, shared->settings().pending_limit);
  if (!made) co_return fail(std::move(made.error()));
  auto opened = std::make_unique<core_subscription>(shared, reader, std::move(*made));
  result<void> flushed = co_await wire.flush(shared->settings().api_timeout);
  if (flushed)
    flushed = check_accepted(wire.take_last_error(), subject);
  else
    flushed = fail(error(errc::subscribe, place + ": the flush after SUB: " + flushed.error().message()));
  if (!flushed) {
    co_await opened->stop();
    co_return fail(std::move(flushed.error()));
  }
  shared->add(reader);
  co_return open_result(std::move(opened));
}

} // namespace millrace::nats::detail
