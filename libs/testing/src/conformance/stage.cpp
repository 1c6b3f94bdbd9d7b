#include "stage.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>

namespace millrace::testing::conformance {
namespace {

std::string number(std::uint64_t n) {
  std::string text;
  for (; n > 0; n /= 36)
    text += "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
  return text;
}

/// Of this process: runs on one server do not meet.
const std::string& process_part() {
  static const std::string part = [] {
    std::random_device random;
    return number((std::uint64_t{random()} << 16) ^ random());
  }();
  return part;
}

} // namespace

task<result<receipt>> publish_with(runtime& rt, std::shared_ptr<publish_port> port, std::string destination,
                                   std::string payload, const header_map* headers) {
  const outgoing message{destination, as_bytes(payload), headers};
  port_publish publishing(rt, *port, message);
  auto sent = co_await publishing;
  co_return sent;
}

std::string stage::unused() {
  static std::atomic<std::uint64_t> count = 0;
  return "check_" + process_part() + "_" + std::to_string(++count);
}

std::string stage::fresh() {
  std::string name = unused();
  value_of(kit().prepare(name), "preparing '" + name + "'");
  return name;
}

task<connection*> stage::connect() {
  auto made = kit().configure();
  auto connected = co_await made->connect(rt(), kit().mode());
  connections_.push_back(value_of(std::move(connected), "connect"));
  co_return connections_.back().get();
}

task<receiver*> stage::open(connection& on, std::string name) {
  auto opened = co_await on.open(name);
  receivers_.push_back(value_of(std::move(opened), "subscribe to '" + name + "'"));
  co_return receivers_.back().get();
}

task<receiver*> stage::open_at(connection& on, std::string name, std::uint64_t position) {
  auto opened = co_await on.open_at(name, position);
  receivers_.push_back(value_of(std::move(opened), "subscribe to '" + name + "' from a position"));
  co_return receivers_.back().get();
}

task<void> stage::close(receiver& r) {
  co_await r.stop();
  std::erase_if(receivers_, [&](const auto& held) { return held.get() == &r; });
}

task<void> stage::shutdown(connection& c) {
  const time_point began = rt().now();
  auto closed = co_await c.shutdown();
  value_of(std::move(closed), "shutdown");
  expect(rt().now() - began <= std::chrono::seconds(10), "the shutdown took more than 10 s");
  std::erase_if(connections_, [&](const auto& held) { return held.get() == &c; });
}

std::shared_ptr<publish_port> stage::publisher(connection& on) { return value_of(on.publisher(), "a publisher"); }

task<delivery> stage::next(receiver& from) {
  auto arrived = co_await from.next(patience + kit().quiet());
  co_return value_of(std::move(arrived), "waiting for a message");
}

task<void> stage::nothing(receiver& from, std::string what) {
  auto arrived = co_await from.next(kit().quiet());
  if (arrived) throw failure(what + ": '" + std::string(arrived->text()) + "' arrived");
  expect_error(arrived, errc::timeout, what);
}

mounted& stage::mount(service<>& on) {
  on.shutdown_timeout(std::chrono::seconds(5));
  mounted_.push_back(kit().mount(on));
  return *mounted_.back();
}

task<result<service_run*>> stage::try_start(const service<>& made) {
  auto run = std::make_unique<service_run>(made.core(), rt());
  auto started = co_await run->start(how());
  if (!started) co_return fail(std::move(started).error());
  services_.push_back(std::move(run));
  co_return services_.back().get();
}

task<service_run*> stage::start(const service<>& made) {
  auto started = co_await try_start(made);
  co_return value_of(std::move(started), "the start of the service");
}

/// Errors are left to the checks that are about them.
task<void> stage::clear() {
  for (auto& run : services_) {
    [[maybe_unused]] const auto stopped = co_await run->shutdown();
  }
  services_.clear();
  for (auto& r : receivers_)
    co_await r->stop();
  receivers_.clear();
  for (auto& c : connections_) {
    [[maybe_unused]] const auto closed = co_await c->shutdown();
  }
  connections_.clear();
  const bool ended = co_await background_.drain(rt().now() + 2 * patience);
  expect(ended, "a request outlasts its connection and its deadline");
}

} // namespace millrace::testing::conformance
