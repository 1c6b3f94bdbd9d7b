#include "stage.hpp"
#include "suites.hpp"

namespace millrace::testing::conformance {
namespace {

constexpr int flushed_messages = 100;

bool always(const broker_kit& /*kit*/) { return true; }
bool shares(const broker_kit& kit) { return kit.can().shared || kit.can().stores; }
bool stores_settled(const broker_kit& kit) { return kit.can().stores && kit.can().settles; }
bool requests(const broker_kit& kit) { return kit.can().requests; }

/// With a subscription open and a delivery in hand.
task<void> shutdown_is_bounded(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  receiver* in = co_await on.open(*c, name);
  const auto out = stage::publisher(*c);
  co_await on.publish(*out, name, "held");
  const delivery held = co_await on.next(*in);
  co_await on.shutdown(*c);
}

/// Every handle that shares the connection, from this runtime and from a thread of its own.
task<void> publishers_answer_closed_afterwards(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  co_await on.open(*c, name);
  const auto used = stage::publisher(*c);
  const auto unused = stage::publisher(*c);
  const auto alias = used;
  co_await on.publish(*used, name, "before");
  co_await on.shutdown(*c);
  const std::string destination = on.kit().destination(name);
  for (const auto& port : {used, unused, alias}) {
    const auto sent = co_await publish_with(on.rt(), port, destination, "after");
    expect_error(sent, errc::closed, "a publish after the shutdown", destination);
  }
  const auto sent = co_await on.on_a_thread(publish_with(on.rt(), used, destination, "after"));
  expect_error(sent, errc::closed, "a publish from another thread after the shutdown", destination);
}

task<void> a_service_publisher_answers_closed_afterwards(stage& on) {
  const std::string name = on.fresh();
  const std::string destination = on.kit().destination(name);
  service made{{.title = "conformance"}};
  mounted& broker = on.mount(made);
  broker.subscribe(name, [](bytes_view, context&) { return ack(); });
  const auto publisher = broker.publisher();
  const header_map none;
  service_run* run = co_await on.start(made);
  auto sent = co_await publisher->publish(destination, "before", none);
  value_of(std::move(sent), "a publish of a running service");
  auto stopped = co_await run->shutdown();
  value_of(std::move(stopped), "the shutdown of the service");
  const auto late = co_await publisher->publish(destination, "after", none);
  expect_error(late, errc::closed, "a publish after the service's shutdown", destination);
}

/// What a publisher refused was not sent all the same.
task<void> nothing_is_sent_behind_the_shutdown(stage& on) {
  const std::string name = on.fresh();
  connection* observing = co_await on.connect();
  receiver* in = co_await on.open(*observing, name);
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  co_await on.publish(*out, name, "before");
  co_await on.shutdown(*c);
  [[maybe_unused]] const auto sent = co_await publish_with(on.rt(), out, on.kit().destination(name), "after");
  delivery first = co_await on.next(*in);
  expect(first.text() == "before", "'" + std::string(first.text()) + "' arrived instead of 'before'");
  [[maybe_unused]] const auto settled = std::move(first).ack();
  co_await on.nothing(*in, "after the shutdown");
}

task<void> settling_afterwards_is_refused(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  receiver* in = co_await on.open(*c, name);
  const auto out = stage::publisher(*c);
  const settlement all[] = {{settlement_kind::ack, {}},
                            {settlement_kind::retry, {}},
                            {settlement_kind::retry_after, std::chrono::seconds(1)},
                            {settlement_kind::drop, {}}};
  std::vector<delivery> held;
  for (std::size_t i = 0; i < std::size(all); ++i)
    co_await on.publish(*out, name, "held");
  for (std::size_t i = 0; i < std::size(all); ++i)
    held.push_back(co_await on.next(*in));
  co_await on.shutdown(*c);
  for (std::size_t i = 0; i < std::size(all); ++i) {
    const auto settled = std::move(held[i]).settle(all[i]);
    const bool honest = !settled && !on.can().settles && settled.error() == errc::unsupported;
    if (!honest) expect_error(settled, errc::closed, "settling after the shutdown");
  }
}

task<void> a_request_answers_closed_afterwards(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  co_await on.shutdown(*c);
  const std::string destination = on.kit().destination(name);
  const outgoing question{destination, as_bytes("after")};
  const auto answer = co_await out->request(question, patience);
  expect_error(answer, errc::closed, "a request after the shutdown", destination);
}

/// Reads on a connection of its own: from before, or from the store.
task<void> what_was_published_before_arrives(stage& on) {
  const std::string name = on.fresh();
  connection* reading = co_await on.connect();
  receiver* in = nullptr;
  if (!on.can().stores) in = co_await on.open(*reading, name);
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  for (int i = 0; i < flushed_messages; ++i)
    co_await on.publish(*out, name, std::to_string(i));
  co_await on.shutdown(*c);
  if (in == nullptr) in = co_await on.open(*reading, name);
  for (int i = 0; i < flushed_messages; ++i) {
    delivery arrived = co_await on.next(*in);
    expect(arrived.text() == std::to_string(i),
           "'" + std::string(arrived.text()) + "' arrived instead of '" + std::to_string(i) + "'");
    [[maybe_unused]] const auto settled = std::move(arrived).ack();
  }
}

task<void> what_was_acked_before_stays_acked(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  receiver* in = co_await on.open(*c, name);
  const auto out = stage::publisher(*c);
  co_await on.publish(*out, name, "acked");
  delivery arrived = co_await on.next(*in);
  value_of(std::move(arrived).ack(), "ack");
  co_await on.shutdown(*c);
  connection* again = co_await on.connect();
  receiver* after = co_await on.open(*again, name);
  co_await on.nothing(*after, "a message that was acknowledged just before the shutdown");
}

} // namespace

void add_shutdown(std::vector<check>& to) {
  const auto add = [&](std::string_view name, std::string_view rules, auto* body, std::string_view needs = {},
                       bool (*applies)(const broker_kit&) = always) {
    to.push_back({"lifecycle", name, rules, needs, applies, body});
  };
  add("shutdown_is_bounded", "", shutdown_is_bounded);
  add("publishers_answer_closed_afterwards", "L3 L4", publishers_answer_closed_afterwards);
  add("a_service_publisher_answers_closed_afterwards", "L4", a_service_publisher_answers_closed_afterwards);
  add("nothing_is_sent_behind_the_shutdown", "L3", nothing_is_sent_behind_the_shutdown, "`shared`", shares);
  add("settling_afterwards_is_refused", "L4", settling_afterwards_is_refused);
  add("a_request_answers_closed_afterwards", "L4", a_request_answers_closed_afterwards, "`requests`", requests);
  add("what_was_published_before_arrives", "", what_was_published_before_arrives, "`shared`", shares);
  add("what_was_acked_before_stays_acked", "", what_was_acked_before_stays_acked, "`stores` and `settles`",
      stores_settled);
}

} // namespace millrace::testing::conformance
