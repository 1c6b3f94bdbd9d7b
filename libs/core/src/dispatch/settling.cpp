#include "dispatch/settling.hpp"

#include "dispatch/subscription_loop.hpp"

#include <millrace/log.hpp>

#include <memory>
#include <utility>

namespace millrace {

/// Reaches into a context for what the dispatch owns.
class settling {
 public:
  static std::unique_ptr<detail::settled_hook> take_hooks(context& ctx) noexcept { return std::move(ctx.hooks_); }
};

namespace {

void warn(const subscription_loop& loop, std::string_view what) {
  log(log_level::warning, "subscription '" + loop.name() + "': " + std::string(what));
}

/// Publishes the reply; what fails turns the answer into a retry.
task<void> send_reply(subscription_loop& loop, invocation& call, incoming& m, ending& how) {
  const auto& plan = loop.plan();
  std::string_view destination;
  if (plan.reply_to)
    destination = *plan.reply_to;
  else
    destination = m.reply_to();
  if (destination.empty()) co_return;
  const outgoing message{destination, call.reply()};
  publish_awaiter reply(*plan.replies, message, std::nullopt);
  const auto sent = co_await reply;
  if (sent) co_return;
  warn(loop, "the reply was not published, the message is delivered again: " + sent.error().message());
  how.text = sent.error().message();
  how.chosen = retry();
}

void run_hooks(subscription_loop& loop, std::unique_ptr<detail::settled_hook> hook, settlement_kind kind) {
  while (hook) {
    auto next = std::move(hook->next);
    if (!hook->only || *hook->only == kind) {
      loop.environment().background->spawn(
          [](std::unique_ptr<detail::settled_hook> h) -> task<void> { co_await h->run(); }(std::move(hook)),
          "a continuation after a settlement");
    }
    hook = std::move(next);
  }
}

void tell(subscription_loop& loop, invocation& call, incoming& m, const ending& how,
          std::optional<settlement> settled) {
  handled_event event;
  event.broker = loop.plan().broker;
  event.subscription = loop.name();
  event.subject = m.subject();
  event.payload = m.payload();
  event.headers = &m.headers();
  event.attempt = call.ctx().attempt();
  event.failed = how.failure;
  event.settled = settled;
  event.failure_text = how.text;
  loop.environment().watcher->handled(event);
}

} // namespace

task<void> settle(subscription_loop& loop, invocation& call, incoming& m, ending how) {
  if (call.has_reply() && how.chosen && how.failure == handled_event::failure::none) {
    co_await send_reply(loop, call, m, how);
  }
  if (!how.chosen) {
    if (loop.watched()) tell(loop, call, m, how, std::nullopt);
    if (how.stops_service) loop.failed_fast(how.text);
    co_return;
  }
  const settlement wanted{how.chosen->kind(), how.chosen->delay()};
  const bool settled = co_await loop.retries().apply(m, call.ctx(), wanted);
  if (loop.watched()) tell(loop, call, m, how, wanted);
  auto attached = how.chosen->take_continuations();
  auto registered = settling::take_hooks(call.ctx());
  if (!settled) co_return;
  if (attached) run_hooks(loop, std::move(attached), wanted.kind);
  if (registered) run_hooks(loop, std::move(registered), wanted.kind);
}

} // namespace millrace
