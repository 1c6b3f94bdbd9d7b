#include "broker/ports.hpp"
#include "broker/subscription.hpp"
#include "protocol/uri.hpp"
#include "session/session.hpp"
#include "wire/scripted_server.hpp"

#include <millrace/log.hpp>
#include <millrace/rabbitmq.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <cstdlib>

namespace {

using namespace millrace;
using namespace millrace::rabbitmq;
namespace wire = millrace::rabbitmq::detail;

/// Settles by turns whatever comes.
class settling_sink final : public sink {
 public:
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override {
    while (incoming* m = batch.pop()) {
      (void)m->headers();
      const settlement_kind ways[] = {settlement_kind::ack, settlement_kind::retry, settlement_kind::drop};
      if (++seen_ % 4 != 0) (void)m->settle({ways[seen_ % 4 - 1], {}});
      m->release();
    }
  }
  void interrupted(error /*why*/) noexcept override {}
  void resumed() noexcept override {}
  void ended(error /*why*/) noexcept override {}
  void dropped(std::uint64_t /*count*/) noexcept override {}

 private:
  std::size_t seen_ = 0;
};

struct started_publish : completion {
  started_publish() : completion([](completion& c) noexcept { static_cast<started_publish&>(c).ended = true; }) {}
  task<void> work;
  bool ended = false;
};

task<void> publish_one(std::shared_ptr<publish_port> to, runtime& rt) {
  struct awaiter {
    publish_port& to;
    publish_operation op;
    bool await_ready() {
      to.publish({"key", as_bytes("body"), nullptr, nullptr}, op);
      return op.done();
    }
    bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op.wait(waiter); }
    void await_resume() noexcept { (void)op.take(); }
  };
  awaiter sent{*to, publish_operation(&rt)};
  co_await sent;
}

template <class T> T must(result<T> from) {
  if (!from) std::abort();
  return std::move(*from);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  set_log_sink([](log_level, std::string_view) {});
  return 0;
}

/// A connected session with a consumer, an open confirming publisher with a message in flight, and a request's channel:
/// whatever the server says then, everything ends, and nothing is left over.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millrace::testing::virtual_runtime rt;
  const auto server = std::make_shared<rabbitmq::testing::scripted_server>(rt);
  const auto link = std::make_shared<wire::link>(rt, wire::broker_settings(), server);
  const auto session = std::make_shared<wire::session>(link, server, must(wire::parse_uri("amqp://one")));
  settling_sink to;
  if (!rt.drive(session->connect())) std::abort();
  auto open = must(rt.drive(wire::open_subscription(link, queue("orders").prefetch(10).spec(), to, {})));
  connected_broker connected(session);
  const auto confirming = must(connected.pair(confirms()));
  started_publish one;
  one.work = publish_one(confirming, rt);
  one.work.start(one);
  (void)rt.run();
  server->refuse_dials = true;
  server->say(std::string(reinterpret_cast<const char*>(data), size));
  (void)rt.run();
  (void)rt.advance(std::chrono::seconds(1));
  open.reset();
  (void)rt.run();
  (void)rt.drive(session->shutdown());
  (void)rt.run();
  if (!one.ended) std::abort();
  return 0;
}
