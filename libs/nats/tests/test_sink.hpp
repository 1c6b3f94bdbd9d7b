#pragma once

#include <millrace/incoming.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::nats::test {

/// What a sink was given, copied.
struct seen {
  std::string subject;
  std::string payload;
  std::string reply_to;
  std::string partition_key;
  std::map<std::string, std::string> headers;
  std::uint32_t count = 0;
  bool delays = false;
};

/// Collects what a subscription delivers and says. Each message is settled by `answer` (an acknowledgement by default;
/// none: kept, unsettled) and released.
class collecting_sink final : public sink {
 public:
  using settle_function = std::function<std::optional<settlement>(const seen&, incoming&)>;
  collecting_sink() : answer_([](const seen&, incoming&) { return settlement{}; }) {}
  explicit collecting_sink(settle_function answer) : answer_(std::move(answer)) {}
  ~collecting_sink() { release_kept(); }
  collecting_sink(const collecting_sink&) = delete;
  collecting_sink& operator=(const collecting_sink&) = delete;

  void deliver(incoming_batch batch, deliver_from) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      handed_over_.push_back(batch.size());
    }
    while (incoming* m = batch.pop())
      take(*m);
  }
  void interrupted(error why) noexcept override { say("interrupted", std::move(why)); }
  void resumed() noexcept override { say("resumed", std::nullopt); }
  void ended(error why) noexcept override { say("ended", std::move(why)); }
  void dropped(std::uint64_t count) noexcept override {
    const std::lock_guard lock(mutex_);
    dropped_ += count;
    changed_.notify_all();
  }

  bool wait_for(std::size_t messages, std::chrono::milliseconds bound = std::chrono::seconds(10)) {
    return wait([&] { return seen_.size() >= messages; }, bound);
  }
  bool wait_for_event(const std::string& name, std::size_t times = 1,
                      std::chrono::milliseconds bound = std::chrono::seconds(20)) {
    return wait([&] { return count_events(name) >= times; }, bound);
  }
  template <class Holds> bool wait(Holds holds, std::chrono::milliseconds bound) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, bound, holds);
  }

  [[nodiscard]] std::vector<seen> messages() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  /// How many messages each hand-over brought.
  [[nodiscard]] std::vector<std::size_t> handed_over() const {
    const std::lock_guard lock(mutex_);
    return handed_over_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return seen_.size();
  }
  [[nodiscard]] std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  [[nodiscard]] std::optional<error> last_error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }
  [[nodiscard]] std::vector<result<void>> settlements() const {
    const std::lock_guard lock(mutex_);
    return settled_;
  }
  /// The messages that were not settled; the caller releases them, or the destructor does.
  [[nodiscard]] std::vector<incoming*> kept() const {
    const std::lock_guard lock(mutex_);
    return kept_;
  }
  void release_kept() {
    std::vector<incoming*> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(kept_);
    }
    for (incoming* m : held)
      m->release();
  }

 private:
  void take(incoming& m) {
    seen copy;
    copy.subject = m.subject();
    copy.payload = as_text(m.payload());
    copy.reply_to = m.reply_to();
    copy.partition_key = m.partition_key();
    for (const auto header : m.headers())
      copy.headers.emplace(header.name, header.value);
    copy.count = m.delivery_count();
    copy.delays = m.delays();
    const std::optional<settlement> how = answer_(copy, m);
    std::optional<result<void>> settled;
    if (how) settled = m.settle(*how);
    if (how) m.release();
    const std::lock_guard lock(mutex_);
    if (!how) kept_.push_back(&m);
    if (settled) settled_.push_back(std::move(*settled));
    seen_.push_back(std::move(copy));
    changed_.notify_all();
  }
  void say(const char* name, std::optional<error> why) {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(name);
    if (why) error_ = std::move(why);
    changed_.notify_all();
  }
  [[nodiscard]] std::size_t count_events(const std::string& name) const {
    std::size_t n = 0;
    for (const std::string& one : events_)
      n += one == name ? 1 : 0;
    return n;
  }

  settle_function answer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<seen> seen_;
  std::vector<std::size_t> handed_over_;
  std::vector<std::string> events_;
  std::optional<error> error_;
  std::vector<result<void>> settled_;
  std::vector<incoming*> kept_;
  std::uint64_t dropped_ = 0;
};

} // namespace millrace::nats::test
