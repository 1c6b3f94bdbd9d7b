#include "messages.hpp"
#include "stage.hpp"
#include "suites.hpp"

#include <algorithm>
#include <array>

namespace millrace::testing::conformance {
namespace {

bool always(const broker_kit& /*kit*/) { return true; }
bool settles(const broker_kit& kit) { return kit.can().settles; }
bool requeues(const broker_kit& kit) { return kit.can().requeues; }
bool counts(const broker_kit& kit) { return kit.can().requeues && kit.can().counts_deliveries; }
bool redelivers(const broker_kit& kit) { return kit.can().redelivers_unsettled; }
bool gives_back(const broker_kit& kit) { return settles(kit) && (requeues(kit) || redelivers(kit)); }

/// A consumer and a publisher of one fresh name.
class channel {
 public:
  explicit channel(stage& on) : stage_(&on), name_(on.fresh()) {}

  task<void> open() {
    connection_ = co_await stage_->connect();
    in_ = co_await stage_->open(*connection_, name_);
    out_ = stage::publisher(*connection_);
  }
  /// A new consumer: of a new connection where the broker stores, or else of the same one.
  task<void> reopen() {
    if (stage_->can().stores) {
      co_await stage_->shutdown(*connection_);
      co_await open();
    } else {
      co_await stage_->close(*in_);
      in_ = co_await stage_->open(*connection_, name_);
    }
  }
  task<void> publish(std::string payload, const header_map* headers = nullptr) {
    return stage_->publish(*out_, name_, std::move(payload), headers);
  }
  task<delivery> next() { return stage_->next(*in_); }
  task<void> nothing(std::string what) { return stage_->nothing(*in_, std::move(what)); }

 private:
  stage* stage_;
  std::string name_;
  connection* connection_ = nullptr;
  receiver* in_ = nullptr;
  std::shared_ptr<publish_port> out_;
};

void ack(delivery d) { value_of(std::move(d).ack(), "ack"); }

/// Acks where there is something to ack.
void put_away(delivery d) { [[maybe_unused]] const auto settled = std::move(d).ack(); }

task<void> answers_are_as_declared(stage& on) {
  const settlement all[] = {{settlement_kind::ack, {}},
                            {settlement_kind::drop, {}},
                            {settlement_kind::retry, {}},
                            {settlement_kind::retry_after, std::chrono::milliseconds(10)}};
  const bool able[] = {on.can().settles, on.can().settles, on.can().requeues, on.can().delays};
  const std::string_view names[] = {"ack", "drop", "retry", "retry_after"};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    channel c(on);
    co_await c.open();
    co_await c.publish("a");
    delivery arrived = co_await c.next();
    expect(arrived.delays() == on.can().delays, "delays() is not what the kit declares");
    expect((arrived.delivery_count() > 0) == on.can().counts_deliveries, "delivery_count() is not what is declared");
    auto settled = std::move(arrived).settle(all[i]);
    if (able[i])
      value_of(std::move(settled), names[i]);
    else
      expect_error(settled, errc::unsupported, names[i]);
  }
}

task<void> ack_consumes(stage& on) {
  channel c(on);
  co_await c.open();
  co_await c.publish("acked");
  ack(co_await c.next());
  co_await c.reopen();
  co_await c.publish("later");
  delivery second = co_await c.next();
  expect(second.text() == "later", "an acknowledged message came back");
  ack(std::move(second));
  co_await c.nothing("after an ack");
}

task<void> drop_does_not_come_back(stage& on) {
  channel c(on);
  co_await c.open();
  co_await c.publish("dropped");
  delivery first = co_await c.next();
  value_of(std::move(first).drop(), "drop");
  co_await c.nothing("after a drop");
  co_await c.reopen();
  co_await c.nothing("after a drop, on a new consumer");
}

task<void> retry_redelivers(stage& on) {
  const header_map headers = sample_headers();
  channel c(on);
  co_await c.open();
  co_await c.publish("again", &headers);
  delivery first = co_await c.next();
  value_of(std::move(first).retry(), "retry");
  delivery second = co_await c.next();
  expect(second.text() == "again", "another message came back: '" + std::string(second.text()) + "'");
  expect_headers(second.headers(), headers);
  ack(std::move(second));
  co_await c.nothing("after the ack of a redelivery");
}

task<void> deliveries_are_counted(stage& on) {
  channel c(on);
  co_await c.open();
  co_await c.publish("counted");
  for (std::uint32_t n = 1; n <= 3; ++n) {
    delivery arrived = co_await c.next();
    expect(arrived.delivery_count() == n,
           "delivery " + std::to_string(n) + " has the count " + std::to_string(arrived.delivery_count()));
    if (n < 3)
      value_of(std::move(arrived).retry(), "retry");
    else
      ack(std::move(arrived));
  }
}

task<void> headers_arrive_intact(stage& on) {
  const header_map headers = sample_headers();
  channel c(on);
  co_await c.open();
  co_await c.publish("with headers", &headers);
  co_await c.publish("without");
  delivery first = co_await c.next();
  expect_headers(first.headers(), headers);
  put_away(std::move(first));
  delivery second = co_await c.next();
  for (const auto& [name, value] : headers)
    expect(!second.headers().contains(name), "the header '" + std::string(name) + "' stayed for the next message");
  put_away(std::move(second));
}

task<void> payloads_arrive_byte_for_byte(stage& on) {
  const header_map headers = sample_headers();
  const std::string payloads[] = {all_bytes(), "", std::string(1, '\0'), std::string(64 * 1024, '\xff')};
  channel c(on);
  co_await c.open();
  for (const std::string& sent : payloads) {
    co_await c.publish(sent, &headers);
    delivery arrived = co_await c.next();
    expect(arrived.text() == sent, "a payload of " + std::to_string(sent.size()) + " bytes arrived as another one of " +
                                       std::to_string(arrived.payload().size()));
    put_away(std::move(arrived));
  }
}

task<void> an_unsettled_delivery_returns(stage& on) {
  channel c(on);
  co_await c.open();
  co_await c.publish("forgotten");
  {
    const delivery first = co_await c.next();
    expect(first.text() == "forgotten", "another message arrived");
  }
  delivery second = co_await c.next();
  expect(second.text() == "forgotten", "another message came back: '" + std::string(second.text()) + "'");
  ack(std::move(second));
  co_await c.nothing("after the ack of what came back");
}

/// Held at the stop of its consumer.
task<void> what_is_held_returns_to_the_next_consumer(stage& on) {
  channel c(on);
  co_await c.open();
  co_await c.publish("held");
  {
    const delivery first = co_await c.next();
    co_await c.reopen();
  }
  delivery second = co_await c.next();
  expect(second.text() == "held", "another message came back: '" + std::string(second.text()) + "'");
  ack(std::move(second));
  co_await c.nothing("after the ack of what came back");
}

task<void> acking_the_third_leaves_the_first_two(stage& on) {
  channel c(on);
  co_await c.open();
  for (const char* payload : {"1", "2", "3"})
    co_await c.publish(payload);
  {
    delivery first = co_await c.next();
    delivery second = co_await c.next();
    delivery third = co_await c.next();
    ack(std::move(third));
    if (!on.can().redelivers_unsettled) {
      value_of(std::move(first).retry(), "retry of the first");
      value_of(std::move(second).retry(), "retry of the second");
    }
  }
  std::array<std::string, 2> left;
  for (std::string& payload : left) {
    delivery again = co_await c.next();
    payload = again.text();
    ack(std::move(again));
  }
  std::ranges::sort(left);
  expect(left[0] == "1" && left[1] == "2", "'" + left[0] + "' and '" + left[1] + "' came back instead of 1 and 2");
  co_await c.nothing("after all three were acknowledged");
}

} // namespace

void add_settlement(std::vector<check>& to) {
  const auto add = [&](std::string_view name, auto* body, std::string_view needs = {},
                       bool (*applies)(const broker_kit&) = always) {
    to.push_back({"settlement", name, "", needs, applies, body});
  };
  add("answers_are_as_declared", answers_are_as_declared);
  add("ack_consumes", ack_consumes, "`settles`", settles);
  add("drop_does_not_come_back", drop_does_not_come_back, "`settles`", settles);
  add("retry_redelivers", retry_redelivers, "`requeues`", requeues);
  add("deliveries_are_counted", deliveries_are_counted, "`requeues` and `counts_deliveries`", counts);
  add("headers_arrive_intact", headers_arrive_intact);
  add("payloads_arrive_byte_for_byte", payloads_arrive_byte_for_byte);
  add("an_unsettled_delivery_returns", an_unsettled_delivery_returns, "`redelivers_unsettled`", redelivers);
  add("what_is_held_returns_to_the_next_consumer", what_is_held_returns_to_the_next_consumer, "`redelivers_unsettled`",
      redelivers);
  add("acking_the_third_leaves_the_first_two", acking_the_third_leaves_the_first_two,
      "`settles`, and `requeues` or `redelivers_unsettled`", gives_back);
}

} // namespace millrace::testing::conformance
