#include "listener.hpp"
#include "recorder.hpp"
#include "stage.hpp"
#include "suites.hpp"

#include <millrace/pool_runtime.hpp>

namespace millrace::testing::conformance {
namespace {

bool always(const broker_kit& /*kit*/) { return true; }
bool dials(const broker_kit& kit) { return kit.mode() == run_mode::live && kit.has_addresses(); }
bool refuses(const broker_kit& kit) { return kit.has_refused_source(); }

task<bool> configure_at(const broker_kit* kit, std::string host_port) {
  const auto broker = kit->has_addresses() ? kit->configure_at(host_port) : kit->configure();
  co_return broker != nullptr;
}

/// On a plain thread, for a server that answers nothing.
task<void> construction_does_no_io(stage& on) {
  const listener server;
  const bool made = co_await on.on_a_thread(configure_at(&on.kit(), server.host_port()));
  expect(made, "the broker could not be constructed");
  expect(!server.was_dialled(), "the constructor of the broker connected to " + server.host_port());
}

task<void> an_unreachable_server_is_an_error(stage& on) {
  listener server;
  const std::string address = server.host_port();
  server.close();
  auto broker = on.kit().configure_at(address);
  const time_point began = on.rt().now();
  auto connected = co_await broker->connect(on.rt(), on.kit().mode());
  expect_error(connected, errc::connect, "connecting to a port where nobody listens");
  expect(on.rt().now() - began < std::chrono::seconds(10), "a refused connection took more than 10 s");
}

task<void> a_publisher_before_the_start_is_not_connected(stage& on) {
  service made{{.title = "conformance"}};
  const auto publisher = on.mount(made).publisher();
  const header_map none;
  const auto sent = co_await publisher->publish("early", "a", none);
  expect_error(sent, errc::not_connected, "a publish before the start", "early");
}

task<void> a_message_makes_the_round_trip(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  receiver* in = co_await on.open(*c, name);
  const auto out = stage::publisher(*c);
  co_await on.publish(*out, name, "a message");
  delivery arrived = co_await on.next(*in);
  expect(arrived.text() == "a message", "another payload arrived: '" + std::string(arrived.text()) + "'");
  expect(arrived.subject() == on.kit().destination(name),
         "the message arrived as of '" + std::string(arrived.subject()) + "'");
  auto settled = std::move(arrived).ack();
  if (on.can().settles)
    value_of(std::move(settled), "ack");
  else
    expect_error(settled, errc::unsupported, "ack");
}

/// Three publishes by a runtime that ends with them.
task<bool> publish_three(std::shared_ptr<publish_port> port, std::string destination) {
  pool_runtime other(1);
  for (const char* payload : {"1", "2", "3"}) {
    auto sent = sync_wait(publish_with(other, port, destination, payload));
    value_of(std::move(sent), "publishing from a second runtime");
  }
  co_return other.stop(patience);
}

task<void> a_second_runtime_publishes_and_ends(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  receiver* in = co_await on.open(*c, name);
  const auto out = stage::publisher(*c);
  const bool ended = co_await on.on_a_thread(publish_three(out, on.kit().destination(name)));
  expect(ended, "the second runtime did not end: something of the broker runs on it");
  co_await on.publish(*out, name, "4");
  std::string seen;
  for (int i = 0; i < 4; ++i) {
    delivery arrived = co_await on.next(*in);
    seen += arrived.text();
    [[maybe_unused]] const auto settled = std::move(arrived).ack();
  }
  expect(seen == "1234", "four messages arrived as '" + seen + "'");
}

/// A service whose second subscription cannot open.
class half_service {
 public:
  half_service(stage& on, bool refused) : good_(on.fresh()), made_({.title = "conformance"}) {
    mounted& broker = on.mount(made_);
    publisher_ = broker.publisher();
    const raw_handler none = [](bytes_view, context&) { return ack(); };
    broker.subscribe(good_, none);
    if (refused)
      broker.subscribe_to_refused(stage::unused(), none).named("the second");
    else
      broker.subscribe("", none).named("the second");
  }

  task<void> fails(stage& on) {
    auto started = co_await on.try_start(made_);
    expect(!started, "a service whose second subscription cannot open has started");
    expect(started.error().message().contains("the second"),
           "the error does not name the subscription: " + started.error().message());
    const header_map none;
    const auto sent = co_await publisher_->publish(on.kit().destination(good_), "a", none);
    expect(!sent, "a publisher works after a start that failed: the broker was not shut down");
  }

 private:
  std::string good_;
  service<> made_;
  std::unique_ptr<sender> publisher_;
};

task<void> a_nameless_source_ends_the_start(stage& on) {
  half_service half(on, false);
  co_await half.fails(on);
}

task<void> a_refused_source_ends_the_start(stage& on) {
  half_service half(on, true);
  co_await half.fails(on);
}

} // namespace

void add_lifecycle(std::vector<check>& to) {
  const auto add = [&](std::string_view name, std::string_view rules, auto* body, std::string_view needs = {},
                       bool (*applies)(const broker_kit&) = always) {
    to.push_back({"lifecycle", name, rules, needs, applies, body});
  };
  add("construction_does_no_io", "L1", construction_does_no_io);
  add("an_unreachable_server_is_an_error", "", an_unreachable_server_is_an_error, "a live server and `at`", dials);
  add("a_publisher_before_the_start_is_not_connected", "", a_publisher_before_the_start_is_not_connected);
  add("a_message_makes_the_round_trip", "", a_message_makes_the_round_trip);
  add("a_second_runtime_publishes_and_ends", "", a_second_runtime_publishes_and_ends);
  add("a_nameless_source_ends_the_start", "L2", a_nameless_source_ends_the_start);
  add("a_refused_source_ends_the_start", "L2", a_refused_source_ends_the_start, "`refused`", refuses);
}

} // namespace millrace::testing::conformance
