#include "suites.hpp"
#include "working.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace millrace::testing::conformance {
namespace {

constexpr std::size_t batch_size = 4;
constexpr duration batch_wait = std::chrono::milliseconds(100);
constexpr int messages = 10;

bool always(const broker_kit& /*kit*/) { return true; }
bool service_retries(const broker_kit& kit) { return kit.retries("any").how != retry_path::kind::broker_moves; }
constexpr std::string_view needs_service = "a source whose retries are the service's";

/// What a handler of batches saw. Handlers share it.
class batch_log {
 public:
  /// How often each payload of a batch was seen, this time included.
  std::vector<int> note(std::span<const bytes_view> batch) {
    const std::scoped_lock lock(mutex_);
    sizes_.push_back(batch.size());
    std::vector<int> times;
    for (const bytes_view payload : batch)
      times.push_back(++seen_[std::string(as_text(payload))]);
    return times;
  }
  [[nodiscard]] std::vector<std::size_t> sizes() const {
    const std::scoped_lock lock(mutex_);
    return sizes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::size_t> sizes_;
  std::map<std::string, int> seen_;
};

/// Mounts a handler of batches that records every element; `answer` sees a payload and how often it came.
template <class Answer>
registration& handle_batches(working& w, const std::shared_ptr<batch_log>& log, std::size_t size, Answer answer) {
  auto handler = [log, seen = w.seen, answer](std::span<const bytes_view> batch, context& ctx) {
    const std::vector<int> times = log->note(batch);
    std::vector<outcome> each;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      seen->record(batch[i], ctx);
      each.push_back(answer(as_text(batch[i]), times[i]));
    }
    return each;
  };
  return w.addressed(w.broker().subscribe_batches(w.name, size, std::move(handler)).batch_wait(batch_wait));
}

outcome taken(std::string_view /*payload*/, int /*time*/) { return ack(); }
outcome odd_ones_once_more(std::string_view payload, int time) {
  return time == 1 && (payload.back() - '0') % 2 == 1 ? retry() : ack();
}

task<void> publish_numbers(working& w, int from, int to) {
  for (int i = from; i <= to; ++i)
    co_await w.publish(std::to_string(i));
}

task<std::multiset<std::string>> next_payloads(working& w, int count) {
  std::multiset<std::string> payloads;
  for (int i = 0; i < count; ++i) {
    const handled one = co_await w.next();
    payloads.insert(one.payload);
  }
  co_return payloads;
}

void expect_each_once(const std::multiset<std::string>& payloads, int from, int to) {
  for (int i = from; i <= to; ++i) {
    const auto times = payloads.count(std::to_string(i));
    expect(times == 1, "message " + std::to_string(i) + " came " + std::to_string(times) + " times");
  }
}

/// None empty, none too large, nothing lost, nothing twice.
task<void> never_larger_than_the_size(stage& on) {
  working w(on);
  const auto log = std::make_shared<batch_log>();
  handle_batches(w, log, batch_size, taken);
  co_await w.start();
  co_await publish_numbers(w, 1, messages);
  const auto payloads = co_await next_payloads(w, messages);
  expect_each_once(payloads, 1, messages);
  co_await w.nothing("after every message was acknowledged");
  for (const std::size_t size : log->sizes())
    expect(size > 0 && size <= batch_size, "a batch of " + std::to_string(size) + " where 4 is the most");
}

/// What has arrived is handed over together, as far as the window lets it arrive.
task<void> what_waits_comes_together(stage& on) {
  working w(on);
  const auto log = std::make_shared<batch_log>();
  handle_batches(w, log, batch_size, taken).batch_wait(std::chrono::seconds(1));
  co_await w.start();
  co_await publish_numbers(w, 1, messages);
  const auto payloads = co_await next_payloads(w, messages);
  expect_each_once(payloads, 1, messages);
  expect(std::ranges::any_of(log->sizes(), [](std::size_t size) { return size > 1; }),
         "every message came in a batch of its own");
}

task<void> a_partial_batch_comes_after_its_wait(stage& on) {
  working w(on);
  const auto log = std::make_shared<batch_log>();
  handle_batches(w, log, 100, taken);
  co_await w.start();
  const time_point began = on.rt().now();
  co_await w.publish("1");
  const handled one = co_await w.next();
  expect(one.payload == "1", "'" + one.payload + "' came instead of '1'");
  expect(one.at - began <= batch_wait + (on.live() ? patience : duration::zero()), "a partial batch came too late");
}

task<void> elements_settle_on_their_own(stage& on) {
  working w(on);
  handle_batches(w, std::make_shared<batch_log>(), batch_size, odd_ones_once_more);
  co_await w.start();
  co_await publish_numbers(w, 1, 4);
  const auto payloads = co_await next_payloads(w, 6);
  for (int i = 1; i <= 4; ++i) {
    const std::size_t wanted = i % 2 == 1 ? 2 : 1;
    const auto times = payloads.count(std::to_string(i));
    expect(times == wanted, "message " + std::to_string(i) + " came " + std::to_string(times) + " times instead of " +
                                std::to_string(wanted));
  }
  co_await w.nothing("after every message was acknowledged");
}

/// Three attempts of one element are its own; its neighbours are acknowledged.
task<void> an_element_is_buried_alone(stage& on) {
  working w(on);
  const auto log = std::make_shared<batch_log>();
  const auto answer = [](std::string_view payload, int /*time*/) { return payload == "2" ? retry() : ack(); };
  const std::string graves = on.fresh();
  const auto dead = std::make_shared<recorder>(on.rt());
  handle_batches(w, log, batch_size, answer).max_attempts(3).dead_letter(on.kit().destination(graves));
  w.broker().subscribe(graves, recorder::handler(dead, [](const handled&) { return ack(); })).named("dead letters");
  co_await w.start();
  co_await publish_numbers(w, 1, 3);
  const auto payloads = co_await next_payloads(w, 5);
  expect(payloads.count("2") == 3,
         "an element with three attempts came " + std::to_string(payloads.count("2")) + " times");
  const handled letter = co_await dead->next(patience);
  expect(letter.payload == "2", "'" + letter.payload + "' was buried instead of '2'");
  co_await w.nothing("after the third attempt");
  co_await dead->nothing(duration::zero(), "after the dead letter");
}

} // namespace

void add_batches(std::vector<check>& to) {
  const auto add = [&](std::string_view name, auto* body, std::string_view needs = {},
                       bool (*applies)(const broker_kit&) = always) {
    to.push_back({"batches", name, "", needs, applies, body});
  };
  add("never_larger_than_the_size", never_larger_than_the_size);
  add("what_waits_comes_together", what_waits_comes_together);
  add("a_partial_batch_comes_after_its_wait", a_partial_batch_comes_after_its_wait);
  add("elements_settle_on_their_own", elements_settle_on_their_own, needs_service, service_retries);
  add("an_element_is_buried_alone", an_element_is_buried_alone, needs_service, service_retries);
}

} // namespace millrace::testing::conformance
