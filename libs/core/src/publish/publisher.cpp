#include "runtime/detached.hpp"

#include <millrace/publisher.hpp>

namespace millrace::detail {

void publish_cell::tell(const outgoing& message) noexcept {
  observer* to = watcher.load(std::memory_order_relaxed);
  if (to != nullptr) to->published({broker, message.destination, message.payload, message.headers, output});
}

std::shared_ptr<publish_cell> publish_cell::copy() const {
  auto made = std::make_shared<publish_cell>();
  made->port = port;
  made->runtime = runtime;
  made->watcher = watcher.load();
  made->broker = broker;
  made->pipeline = pipeline;
  made->piped = piped;
  made->output = output;
  made->live.store(live.load());
  return made;
}

void publish_cell::refuse(const outgoing& message, publish_operation& op) noexcept {
  op.complete_now(fail(errc::not_connected, "publish to '" + std::string(message.destination) + "'"));
}

void publish_cell::publish(const outgoing& message, publish_operation& op, context* origin) noexcept {
  publish_port* to = live.load(std::memory_order_acquire);
  if (to == nullptr) return refuse(message, op);
  if (piped) {
    publish_through(message, op, origin);
    return;
  }
  tell(message);
  to->publish(message, op);
}

namespace {

/// Awaits a port's own operation.
struct port_awaiter {
  publish_operation& op;
  [[nodiscard]] bool await_ready() const noexcept { return op.done(); }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op.wait(waiter); }
  result<receipt> await_resume() noexcept { return op.take(); }
};

} // namespace

task<result<receipt>> publish_cell::send(publish_draft& draft) {
  const outgoing message = draft.message();
  tell(message);
  publish_operation op(runtime);
  port->publish(message, op);
  port_awaiter sent{op};
  co_return co_await sent;
}

detached publish_cell::publish_through(outgoing message, publish_operation& op, context* origin) {
  publish_draft draft(message, pipeline.base_headers, pipeline.make_options(message.options), origin);
  const send_draft send_it = [this](publish_draft& d) { return send(d); };
  auto sent = co_await run_pipeline(pipeline, draft, send_it);
  op.complete(std::move(sent));
}

namespace {

task<result<reply_message>> refuse_request(std::string destination) {
  co_return fail(errc::not_connected, "request to '" + destination + "'");
}

} // namespace

task<result<reply_message>> publish_cell::request(const outgoing& message, duration timeout) {
  publish_port* to = live.load(std::memory_order_acquire);
  if (to == nullptr) return refuse_request(std::string(message.destination));
  if (piped) return request_through(*to, message, timeout);
  tell(message);
  return to->request(message, timeout);
}

task<result<reply_message>> publish_cell::request_through(publish_port& to, outgoing message, duration timeout) {
  publish_draft draft(message, pipeline.base_headers, pipeline.make_options(message.options), nullptr);
  reply_message reply;
  const send_draft send_it = [this, &to, timeout, &reply](publish_draft& d) -> task<result<receipt>> {
    tell(d.message());
    auto answered = co_await to.request(d.message(), timeout);
    if (!answered) co_return fail(std::move(answered).error());
    reply = std::move(*answered);
    co_return receipt{};
  };
  auto sent = co_await run_pipeline(pipeline, draft, send_it);
  if (!sent) co_return fail(std::move(sent).error());
  co_return reply;
}

} // namespace millrace::detail
