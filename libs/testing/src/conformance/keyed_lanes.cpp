#include "suites.hpp"
#include "working.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

namespace millrace::testing::conformance {
namespace {

constexpr unsigned lanes = 4;
constexpr int messages = 40;
constexpr std::array<std::string_view, 5> keys = {"a", "customer 17", "c", "d", "e"};

bool has_keys(const broker_kit& kit) { return kit.has_keys(); }
constexpr std::string_view needs_keys = "`key`";

/// What runs at once, and what ended in which order. Handlers share it.
class lane_log {
 public:
  void begin() {
    const std::scoped_lock lock(mutex_);
    most_ = std::max(most_, ++running_);
  }
  void end(std::string_view payload) {
    const std::scoped_lock lock(mutex_);
    --running_;
    ended_.emplace_back(payload);
  }
  [[nodiscard]] unsigned running() const {
    const std::scoped_lock lock(mutex_);
    return running_;
  }
  [[nodiscard]] unsigned most() const {
    const std::scoped_lock lock(mutex_);
    return most_;
  }
  [[nodiscard]] std::vector<std::string> ended() const {
    const std::scoped_lock lock(mutex_);
    return ended_;
  }

 private:
  mutable std::mutex mutex_;
  unsigned running_ = 0;
  unsigned most_ = 0;
  std::vector<std::string> ended_;
};

/// A payload is "<key>|<number>"; what it takes to handle one looks random.
duration latency(std::string_view payload) {
  return std::chrono::milliseconds(std::hash<std::string_view>{}(payload) % 13);
}

task<outcome> take_a_while(std::shared_ptr<lane_log> log, std::shared_ptr<recorder> seen, bytes_view payload,
                           context& ctx) {
  log->begin();
  co_await ctx.sleep_for(latency(as_text(payload)));
  log->end(as_text(payload));
  seen->record(payload, ctx);
  co_return ack();
}

registration& handle_in_lanes(working& w, const std::shared_ptr<lane_log>& log) {
  auto handler = [log, seen = w.seen](bytes_view payload, context& ctx) {
    return take_a_while(log, seen, payload, ctx);
  };
  return w.broker().subscribe_waiting(w.name, std::move(handler)).workers(lanes).by_key();
}

void expect_order_of_keys(const std::vector<std::string>& ended) {
  std::map<std::string, int> last;
  for (const std::string& payload : ended) {
    const std::size_t bar = payload.find('|');
    const std::string key = payload.substr(0, bar);
    const int n = std::stoi(payload.substr(bar + 1));
    const auto before = last.find(key);
    if (before != last.end()) {
      expect(before->second < n, "message " + std::to_string(before->second) + " of key '" + key +
                                     "' was handled before message " + std::to_string(n));
    }
    last[key] = n;
  }
}

task<void> a_key_keeps_its_order(stage& on) {
  working w(on);
  const auto log = std::make_shared<lane_log>();
  handle_in_lanes(w, log);
  co_await w.start();
  for (int i = 0; i < messages; ++i) {
    const std::string key(keys[static_cast<std::size_t>(i) % keys.size()]);
    const std::string payload = key + "|" + std::to_string(i);
    co_await w.publish_keyed(payload, key);
  }
  for (int i = 0; i < messages; ++i)
    co_await w.next();
  expect_order_of_keys(log->ended());
  expect(log->most() <= lanes, std::to_string(log->most()) + " messages at once in four lanes");
  co_await w.nothing("after every message was acknowledged");
}

/// Waits until another message is being handled too: in lanes of their own they meet.
task<outcome> meet(std::shared_ptr<lane_log> log, std::shared_ptr<recorder> seen, bytes_view payload, context& ctx) {
  log->begin();
  const time_point due = ctx.runtime().now() + patience;
  while (log->most() < 2 && ctx.runtime().now() < due)
    co_await ctx.sleep_for(std::chrono::milliseconds(5));
  log->end(as_text(payload));
  seen->record(payload, ctx);
  co_return ack();
}

task<void> handle_together(working& w, bool keyed) {
  const auto log = std::make_shared<lane_log>();
  auto handler = [log, seen = w.seen](bytes_view payload, context& ctx) { return meet(log, seen, payload, ctx); };
  w.broker().subscribe_waiting(w.name, std::move(handler)).workers(lanes).by_key();
  co_await w.start();
  constexpr int together = 16;
  for (int i = 0; i < together; ++i) {
    const std::string number = std::to_string(i);
    if (keyed)
      co_await w.publish_keyed(number, "key " + number);
    else
      co_await w.publish(number);
  }
  for (int i = 0; i < together; ++i)
    co_await w.next();
  expect(log->most() >= 2, "four lanes handled one message at a time");
}

task<void> keys_run_side_by_side(stage& on) {
  working w(on);
  co_await handle_together(w, true);
}

task<void> messages_without_a_key_take_turns(stage& on) {
  working w(on);
  co_await handle_together(w, false);
}

} // namespace

void add_keyed_lanes(std::vector<check>& to) {
  const auto add = [&](std::string_view name, auto* body) {
    to.push_back({"keyed_lanes", name, "", needs_keys, has_keys, body});
  };
  add("a_key_keeps_its_order", a_key_keeps_its_order);
  add("keys_run_side_by_side", keys_run_side_by_side);
  add("messages_without_a_key_take_turns", messages_without_a_key_take_turns);
}

} // namespace millrace::testing::conformance
