#include "messages.hpp"
#include "recorder.hpp"
#include "stage.hpp"
#include "suites.hpp"

#include <array>

namespace millrace::testing::conformance {
namespace {

constexpr duration delay = std::chrono::milliseconds(1500);
constexpr duration short_delay = std::chrono::milliseconds(50);

/// The name does not matter to a source's copy path.
bool service_retries(const broker_kit& kit) { return kit.retries("any").how != retry_path::kind::broker_moves; }
bool groups(const broker_kit& kit) { return service_retries(kit) && kit.can().groups; }
/// An immediate retry without a limit may be a requeue; then only the broker could count it.
bool counts_retries(const broker_kit& kit) { return kit.can().counts_deliveries || !kit.can().requeues; }
constexpr std::string_view needs_service = "a source whose retries are the service's";
constexpr std::string_view needs_groups = "`groups`, and a source whose retries are the service's";

/// A service that handles one name, records it, and may read a second one, for dead letters.
class retrying {
 public:
  explicit retrying(stage& on)
      : seen(std::make_shared<recorder>(on.rt())), dead(std::make_shared<recorder>(on.rt())), stage_(&on),
        name_(on.fresh()), made_({.title = "conformance"}), broker_(&on.mount(made_)), out_(broker_->publisher()) {}

  /// One more subscription to the name.
  template <class Answer> registration& handle(Answer answer) {
    registration& r = broker_->subscribe(name_, recorder::handler(seen, answer));
    return needs_address() ? r.retry_to(destination()) : r;
  }
  /// Reads the dead letters; answers where they go.
  std::string bury() {
    const std::string name = stage_->fresh();
    broker_->subscribe(name, recorder::handler(dead, [](const handled&) { return ack(); })).named("dead letters");
    return stage_->kit().destination(name);
  }
  task<void> start_and_publish(std::string payload, header_map headers) {
    co_await stage_->start(made_);
    auto sent = co_await out_->publish(destination(), std::move(payload), std::move(headers));
    value_of(std::move(sent), "publish");
  }
  task<handled> next(duration extra = {}) { return seen->next(patience + stage_->kit().quiet() + extra); }
  task<void> nothing(std::string what) { return seen->nothing(stage_->kit().quiet(), std::move(what)); }

  std::shared_ptr<recorder> seen;
  std::shared_ptr<recorder> dead;

 private:
  [[nodiscard]] std::string destination() const { return stage_->kit().destination(name_); }
  [[nodiscard]] bool needs_address() const { return stage_->kit().retries(name_).how == retry_path::kind::named; }
  stage* stage_;
  std::string name_;
  service<> made_;
  mounted* broker_;
  std::unique_ptr<sender> out_;
};

outcome again(const handled& /*call*/) { return retry(); }
outcome again_soon(const handled& /*call*/) { return retry_after(short_delay); }
outcome again_once(const handled& call) { return call.call == 1 ? retry() : ack(); }
outcome later_once(const handled& call) { return call.call == 1 ? retry_after(delay) : ack(); }

void expect_same(const handled& call, std::string_view payload, const header_map& headers) {
  expect(call.payload == payload, "a copy has another payload: '" + call.payload + "'");
  expect_headers(call.headers, headers);
}

task<void> retry_after_is_neither_early_nor_late(stage& on) {
  retrying work(on);
  work.handle(later_once);
  const header_map headers = sample_headers();
  co_await work.start_and_publish("delayed", headers);
  const handled first = co_await work.next();
  const handled second = co_await work.next(delay);
  const duration took = second.at - first.at;
  const auto in_ms = std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) + " ms";
  expect(took >= delay, "a retry after 1.5 s came after " + in_ms);
  expect(took <= delay + (on.live() ? patience : duration::zero()), "a retry after 1.5 s came only after " + in_ms);
  expect(second.attempt == 2, "the second delivery is counted as attempt " + std::to_string(second.attempt));
  expect_same(second, "delayed", headers);
  co_await work.nothing("after the ack of a retry");
}

task<void> a_retry_keeps_payload_headers_and_count(stage& on) {
  retrying work(on);
  work.handle(again_once);
  const header_map headers = sample_headers();
  const std::string payload = all_bytes();
  co_await work.start_and_publish(payload, headers);
  const handled first = co_await work.next();
  expect(first.attempt == 1, "the first delivery is counted as attempt " + std::to_string(first.attempt));
  const handled second = co_await work.next();
  const std::uint32_t counted = counts_retries(on.kit()) ? 2 : 1;
  expect(second.attempt == counted, "the second delivery is counted as attempt " + std::to_string(second.attempt));
  expect_same(second, payload, headers);
  co_await work.nothing("after the ack of a retry");
}

task<void> spend_three_attempts(retrying& work, const header_map& headers) {
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const handled call = co_await work.next();
    expect(call.attempt == n, "call " + std::to_string(n) + " is attempt " + std::to_string(call.attempt));
    expect_same(call, "spent", headers);
  }
}

task<void> bury_after_three(stage& on, outcome (*answer)(const handled&)) {
  retrying work(on);
  work.handle(answer).max_attempts(3).dead_letter(work.bury());
  const header_map headers = sample_headers();
  co_await work.start_and_publish("spent", headers);
  co_await spend_three_attempts(work, headers);
  const handled letter = co_await work.dead->next(patience);
  expect_same(letter, "spent", headers);
  co_await work.nothing("after the third attempt");
  co_await work.dead->nothing(duration::zero(), "after the dead letter");
}

task<void> three_attempts_then_one_dead_letter(stage& on) { return bury_after_three(on, again); }
task<void> three_delayed_attempts_then_one_dead_letter(stage& on) { return bury_after_three(on, again_soon); }

task<void> spent_without_a_dead_letter_is_gone(stage& on) {
  retrying work(on);
  work.handle(again).max_attempts(3);
  const header_map headers = sample_headers();
  co_await work.start_and_publish("spent", headers);
  co_await spend_three_attempts(work, headers);
  co_await work.nothing("after the third attempt");
}

/// With two subscriptions that share the messages of one source.
task<void> a_retry_reaches_one_member_of_a_group(stage& on) {
  retrying work(on);
  work.handle(again_once).named("first member");
  work.handle(again_once).named("second member");
  const header_map headers = sample_headers();
  co_await work.start_and_publish("shared", headers);
  const handled first = co_await work.next();
  const handled second = co_await work.next();
  const bool counted = !counts_retries(on.kit()) || second.attempt == first.attempt + 1;
  expect(counted, "both members of the group had the message");
  expect_same(second, "shared", headers);
  co_await work.nothing("after the ack of a retry in a group");
}

} // namespace

void add_retry(std::vector<check>& to) {
  const auto add = [&](std::string_view name, auto* body, std::string_view needs = needs_service,
                       bool (*applies)(const broker_kit&) = service_retries) {
    to.push_back({"retry", name, "", needs, applies, body});
  };
  add("retry_after_is_neither_early_nor_late", retry_after_is_neither_early_nor_late);
  add("a_retry_keeps_payload_headers_and_count", a_retry_keeps_payload_headers_and_count);
  add("three_attempts_then_one_dead_letter", three_attempts_then_one_dead_letter);
  add("three_delayed_attempts_then_one_dead_letter", three_delayed_attempts_then_one_dead_letter);
  add("spent_without_a_dead_letter_is_gone", spent_without_a_dead_letter_is_gone);
  add("a_retry_reaches_one_member_of_a_group", a_retry_reaches_one_member_of_a_group, needs_groups, groups);
}

} // namespace millrace::testing::conformance
