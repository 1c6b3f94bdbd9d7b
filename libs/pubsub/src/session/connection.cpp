#include "session/connection.hpp"

#include "protocol/names.hpp"
#include "session/leases.hpp"
#include "session/puller.hpp"

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

constexpr duration close_bound = std::chrono::seconds(2); // for cancelled calls to say so

} // namespace

result<topic_publisher*> connection::topic(std::string_view written) {
  const std::lock_guard lock(mutex_);
  if (const auto found = written_.find(written); found != written_.end()) return found->second.get();
  result<std::string> full = full_name(resource::topic, settings_.project, written);
  if (!full) return fail(error(make_error_code(errc::publish), full.error().context()));
  auto& publisher = topics_[*full];
  if (publisher == nullptr) publisher = std::make_shared<topic_publisher>(*this, *full);
  if (closed()) publisher->close();
  return written_.emplace(std::string(written), publisher).first->second.get();
}

result<void> connection::declare(const std::string& full_name, redelivery_declaration declared) {
  const std::lock_guard lock(mutex_);
  const auto [at, first] = declared_.try_emplace(full_name, declared);
  if (first || at->second == declared) return {};
  return fail(errc::invalid_descriptor,
              "subscription '" + full_name + "': two registrations declare different max_attempts and dead_letter");
}

void connection::add(std::shared_ptr<leases> held, std::weak_ptr<puller> reader) {
  const std::lock_guard lock(mutex_);
  leases_.push_back(std::move(held));
  std::erase_if(readers_, [](const auto& one) { return one.expired(); });
  readers_.push_back(std::move(reader));
}

std::vector<std::shared_ptr<topic_publisher>> connection::publishers() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<topic_publisher>> all;
  all.reserve(topics_.size());
  for (const auto& [name, publisher] : topics_)
    all.push_back(publisher);
  return all;
}

/// How many messages had no answer by then.
task<std::size_t> connection::flush_publishers(time_point due) {
  const auto all = publishers();
  for (const auto& publisher : all)
    publisher->close();
  std::size_t left = 0;
  for (const auto& publisher : all)
    left += co_await publisher->flush(due);
  co_return left;
}

task<bool> connection::flush_settlements(time_point due) {
  std::vector<std::shared_ptr<leases>> all;
  {
    const std::lock_guard lock(mutex_);
    all = leases_;
  }
  bool flushed = true;
  for (const auto& one : all) {
    const bool done = co_await one->flush(due);
    flushed = flushed && done;
  }
  co_return flushed;
}

/// Streams that are still open end first: what goes back then goes to others.
task<void> connection::stop_reading() {
  std::vector<std::weak_ptr<puller>> readers;
  {
    const std::lock_guard lock(mutex_);
    readers = readers_;
  }
  for (const auto& reader : readers) {
    const std::shared_ptr<puller> still = reader.lock();
    if (still != nullptr) co_await still->stop();
  }
}

void connection::close_subscriptions() noexcept {
  std::vector<std::shared_ptr<leases>> all;
  std::vector<std::weak_ptr<puller>> readers;
  {
    const std::lock_guard lock(mutex_);
    all.swap(leases_);
    readers.swap(readers_);
  }
  for (const auto& reader : readers)
    if (const auto still = reader.lock()) still->abandon();
  for (const auto& one : all)
    one->close();
}

task<result<closed_broker>> connection::shutdown() {
  const auto self = shared_from_this();
  closed_.store(true, std::memory_order_release);
  const time_point due = runtime_.now() + settings_.shutdown_timeout;
  co_await stop_reading();
  const std::size_t left = co_await flush_publishers(due);
  const bool settled = co_await flush_settlements(due);
  close_subscriptions();
  co_await wire_->close(runtime_.now() + close_bound);
  if (left > 0) co_return fail(errc::shutdown, std::to_string(left) + " published messages were not accepted in time");
  if (!settled) co_return fail(errc::shutdown, "settlements were not accepted in time, their messages come back");
  co_return closed_broker{};
}

void connection::abandon() noexcept {
  closed_.store(true, std::memory_order_release);
  for (const auto& publisher : publishers())
    publisher->give_up();
  close_subscriptions();
  wire_->abandon();
}

} // namespace millrace::pubsub::detail
