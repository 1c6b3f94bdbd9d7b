#include "dispatch/settling.hpp"

#include "dispatch/subscription_loop.hpp"

#include <millrace/confirmation.hpp>
#include <millrace/log.hpp>

#include <memory>
#include <utility>

namespace millrace {
namespace {

void tell(subscription_loop& loop, incoming& m, const ending& how, std::optional<settlement> settled) {
  if (!loop.watched()) return;
  handled_event event;
  event.broker = loop.plan().broker;
  event.subscription = loop.name();
  event.subject = m.subject();
  event.payload = m.payload();
  event.headers = &m.headers();
  event.attempt = attempt_of(m);
  event.failed = how.failure;
  event.settled = settled;
  event.failure_text = how.text;
  event.call = how.call == 0 ? loop.next_call() : how.call;
  event.batch_size = how.batch_size;
  loop.environment().watcher->handled(event);
}

/// Off the delivery path: neither the release of the message nor the next one waits for user code.
task<void> run_hook(runtime& rt, std::unique_ptr<detail::settled_hook> hook) {
  co_await resume_on(rt);
  co_await hook->run();
}

/// Starts the continuations that match, on their own.
void run_continuations(subscription_loop& loop, std::unique_ptr<detail::settled_hook> hook, settlement_kind kind) {
  while (hook) {
    auto next = std::move(hook->next);
    if (!hook->only || *hook->only == kind) {
      loop.environment().background->spawn(run_hook(*loop.environment().rt, std::move(hook)),
                                           "a continuation after a settlement");
    }
    hook = std::move(next);
  }
}

/// A refusal is in health and in the log: the broker tells its sink.
task<void> continue_when_confirmed(subscription_loop& loop, batch_settlement whole,
                                   std::unique_ptr<detail::settled_hook> hooks, settlement_kind kind) {
  for (unconfirmed& one : whole.waiting) {
    const auto taken = co_await confirmation::answer(std::move(one.answer));
    if (taken)
      run_continuations(loop, std::move(one.hooks), one.kind);
    else
      whole.failed = true;
  }
  if (!whole.failed) run_continuations(loop, std::move(hooks), kind);
}

} // namespace

void run_batch_continuations(subscription_loop& loop, batch_settlement whole,
                             std::unique_ptr<detail::settled_hook> hooks, settlement_kind kind) {
  if (!whole.waiting.empty())
    loop.environment().background->spawn(continue_when_confirmed(loop, std::move(whole), std::move(hooks), kind),
                                         "continuations that wait for the broker's confirmation");
  else if (!whole.failed)
    run_continuations(loop, std::move(hooks), kind);
}

void take_over(outcome& chosen, std::unique_ptr<detail::settled_hook> registered, std::optional<settlement_kind> kind) {
  while (registered) {
    auto rest = std::move(registered->next);
    if (!registered->only || registered->only == kind) chosen.append(std::move(registered));
    registered = std::move(rest);
  }
}

ending reply_failed(const subscription_loop& loop, const error& why) {
  ending how;
  how.text = why.message();
  log(log_level::warning,
      "subscription '" + loop.name() + "': the reply was not published, the message is delivered again: " + how.text);
  how.chosen = retry();
  return how;
}

namespace {

/// If somebody waits for more than the hand-over.
std::shared_ptr<confirmation> later_answer(incoming& m, const ending& how) {
  return how.whole != nullptr || how.chosen->has_continuation() ? m.confirmation_of_settlement() : nullptr;
}

/// After the settlement, or after it was left.
void settled_as(subscription_loop& loop, incoming& m, ending& how, settlement wanted, bool settled,
                std::shared_ptr<confirmation> later) {
  tell(loop, m, how, wanted);
  if (!settled) {
    if (how.whole != nullptr) how.whole->failed = true;
    return;
  }
  auto hooks = how.chosen->take_continuations();
  if (later == nullptr) return run_continuations(loop, std::move(hooks), wanted.kind);
  batch_settlement alone;
  batch_settlement& to = how.whole != nullptr ? *how.whole : alone;
  to.waiting.push_back({std::move(later), std::move(hooks), wanted.kind});
  if (how.whole == nullptr) run_batch_continuations(loop, std::move(alone), nullptr, wanted.kind);
}

bool wants_reply(invocation& call, const ending& how) {
  return call.has_reply() && how.failure == handled_event::failure::none && how.chosen &&
         how.chosen->kind() == settlement_kind::ack;
}

} // namespace

bool settle_at_once(subscription_loop& loop, incoming& m, ending& how) {
  if (!how.chosen) {
    tell(loop, m, how, std::nullopt);
    if (how.stops_service) loop.failed_fast(how.text);
    return true;
  }
  const settlement wanted{how.chosen->kind(), how.chosen->delay()};
  if (wanted.kind != settlement_kind::ack && wanted.kind != settlement_kind::drop) return false;
  auto later = later_answer(m, how);
  const bool settled = loop.retries().settle_plainly(m, wanted);
  settled_as(loop, m, how, wanted, settled, std::move(later));
  return true;
}

task<void> settle_element(subscription_loop& loop, incoming& m, ending how) {
  if (settle_at_once(loop, m, how)) co_return;
  const settlement wanted{how.chosen->kind(), how.chosen->delay()};
  auto later = later_answer(m, how);
  const bool settled = co_await loop.retries().apply(m, wanted, how.text);
  settled_as(loop, m, how, wanted, settled, std::move(later));
}

task<void> settle_call(subscription_loop& loop, invocation& call, incoming& m, ending how, reply_publish* begun) {
  if (begun != nullptr) {
    auto sent = co_await begun->started();
    if (!sent) how = reply_failed(loop, sent.error());
  } else if (wants_reply(call, how)) {
    reply_publish reply(loop.plan(), call, m);
    auto sent = co_await reply;
    if (!sent) how = reply_failed(loop, sent.error());
  }
  if (how.chosen) take_over(*how.chosen, call.take_hooks(), how.chosen->kind());
  if (settle_at_once(loop, m, how)) co_return;
  co_await settle_element(loop, m, std::move(how));
}

} // namespace millrace
