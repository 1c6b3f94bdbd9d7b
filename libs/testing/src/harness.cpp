#include "harness.hpp"

#include <millrace/testing/errors.hpp>

#include <mutex>
#include <utility>

namespace millrace::testing {
namespace {

/// Handlers that do not return keep what they use.
struct left_behind {
  std::mutex mutex;
  std::vector<std::unique_ptr<harness>> used;
};
left_behind& graveyard() {
  static auto* instance = new left_behind; // never destroyed: threads may outlive static destruction
  return *instance;
}

template <class T> task<void> keep(task<T> work, std::shared_ptr<std::optional<T>> kept) {
  kept->emplace(co_await std::move(work));
}

/// What a publish lends, for a task that the harness may have to give up.
struct kept_message {
  kept_message(const outgoing& m, const std::shared_ptr<millrace::detail::publish_cell>& through)
      : cell(through), destination(m.destination), payload(as_text(m.payload)) {
    if (m.headers != nullptr) headers = *m.headers;
  }
  [[nodiscard]] outgoing lent() const noexcept {
    return {destination, as_bytes(payload), headers.empty() ? nullptr : &headers};
  }
  std::shared_ptr<millrace::detail::publish_cell> cell;
  std::string destination;
  std::string payload;
  header_map headers;
};

task<result<receipt>> send(std::shared_ptr<const kept_message> message) {
  const outgoing lent = message->lent();
  publish_awaiter sending(*message->cell, lent);
  auto sent = co_await sending;
  co_return sent;
}

task<result<reply_message>> ask(std::shared_ptr<const kept_message> message, duration timeout) {
  auto answer = co_await message->cell->request(message->lent(), timeout);
  co_return answer;
}

} // namespace

void harness::add_publishers() {
  for (const auto& broker : core_->brokers()) {
    publishers_.push_back(broker->add_publisher([entry = broker.get()](void*) { return entry->default_port(); }));
  }
  run_.on_stopping([seen = record_] { seen->announce(); });
}

/// The value outlives the task, which may be resumed after it was given up.
template <class T> T harness::finish_with(task<T> work) {
  auto kept = std::make_shared<std::optional<T>>();
  driver_->finish(keep(std::move(work), kept));
  return std::move(**kept);
}

result<void> harness::start() {
  try {
    auto started = finish_with(run_.start(driver_->mode()));
    if (!started) return started;
    for (auto& cell : publishers_)
      cell->piped = false; // the service's publish layers are not for the test's messages
    started_ = true;
    driver_->react();
    return {};
  } catch (const unfinished_reaction& e) {
    return fail(error(e.why()).at("start"));
  }
}

result<void> harness::shutdown() {
  if (stopped_) return *stopped_;
  stopped_ = fail(errc::shutdown, "the shutdown does not end");
  try {
    stopped_ = finish_with(run_.shutdown());
    driver_->react();
  } catch (const unfinished_reaction& e) {
    stopped_ = fail(error(e.why()).at("shutdown"));
  }
  return *stopped_;
}

void harness::release(std::unique_ptr<harness> used) noexcept {
  if (!used) return;
  try {
    if (used->started_) static_cast<void>(used->shutdown());
  } catch (...) { // a hook of the service; the test is over
  }
  const bool left = used->run_.left_running() > 0;
  if (used->driver_->stop() && !left) return;
  auto& stay = graveyard();
  const std::scoped_lock lock(stay.mutex);
  stay.used.push_back(std::move(used));
}

result<receipt> harness::publish(std::size_t broker, const outgoing& message) {
  auto sent = finish_with(send(std::make_shared<const kept_message>(message, publishers_[broker])));
  driver_->react();
  return sent;
}

result<reply> harness::request(std::size_t broker, const outgoing& message, duration timeout) {
  auto answer = finish_with(ask(std::make_shared<const kept_message>(message, publishers_[broker]), timeout));
  driver_->react();
  if (!answer) return fail(std::move(answer).error());
  return reply(std::move(*answer));
}

void harness::finish(task<void> work) {
  driver_->finish(std::move(work));
  driver_->react();
}

template <class Count> void harness::wait(const std::string& what, std::size_t n, const char* unit, Count count) {
  std::string why;
  const bool ended = driver_->wait([&] { return count() >= n || run_.failure().has_value(); }, why);
  if (count() >= n) return;
  if (ended) why = "the service failed: " + run_.failure()->message();
  throw wait_timed_out({errc::timeout, what + ": awaited " + std::to_string(n) + " " + unit + ", there are " +
                                           std::to_string(count()) + "; " + why});
}

void harness::wait_for(std::string_view name, std::size_t n) {
  const auto of = subscription(std::nullopt, name);
  wait("subscription '" + of.name + "'", n, "calls", [&] { return record_->calls(of); });
}

void harness::wait_for_published(std::string_view destination, std::size_t n) {
  const record_filter of{{}, std::string(destination)};
  wait("published to '" + of.name + "'", n, "messages", [&] { return record_->publish_count(of); });
}

void harness::assert_running() {
  const auto why = run_.failure();
  if (why) throw expectation_failed("expected a running service, but it failed: " + why->message());
  if (stopped_) throw expectation_failed("expected a running service, but it was shut down");
  if (run_.stopping().is_set()) throw expectation_failed("expected a running service, but it asked to be stopped");
}

} // namespace millrace::testing
