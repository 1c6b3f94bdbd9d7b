#include "session/tx_lane.hpp"

#include "session/session.hpp"

namespace millrace::rabbitmq::detail {
namespace {

std::unexpected<error> gone() {
  return fail(errc::publish, "the transaction's channel is gone; nothing of it was committed by this");
}

} // namespace

task<result<std::uint32_t>> tx_lane::begin() {
  const auto self = std::static_pointer_cast<tx_lane>(shared_from_this());
  const auto mine = std::make_shared<waiter>(clock());
  mine->answer = method::tx_select_ok;
  {
    const std::scoped_lock lock(shared().mutex);
    if (shared().closed) co_return fail(errc::closed, "begin a transaction");
    if (gate().open) co_return gate().generation;
    waiter_ = mine;
  }
  shared().post([self](session* s) {
    s->adopt(self);
    self->want(*s, true);
  });
  const bool opened_in_time = co_await mine->done.wait_until(clock().now() + shared().settings.publish_timeout);
  if (!opened_in_time) co_return fail(errc::timeout, "begin a transaction: the server did not answer");
  if (mine->failure) co_return fail(*mine->failure);
  const std::scoped_lock lock(shared().mutex);
  if (!gate().open) co_return gone();
  co_return gate().generation;
}

void tx_lane::stage(std::string frames, std::string_view routing_key, std::uint32_t generation, publish_operation& op) {
  bool wake = false;
  {
    const std::scoped_lock lock(shared().mutex);
    if (shared().closed) return op.complete_now(fail(errc::closed, "publish to '" + std::string(routing_key) + "'"));
    if (!is_open(generation)) return op.complete_now(gone());
    address_frames(frames, gate().number);
    shared().out += frames;
    wake = shared().promise_flush();
  }
  op.complete_now(receipt{});
  if (wake) shared().wake();
}

task<result<void>> tx_lane::finish(bool commit, std::uint32_t generation) {
  const auto self = shared_from_this();
  const auto mine = std::make_shared<waiter>(clock());
  mine->answer = commit ? method::tx_commit_ok : method::tx_rollback_ok;
  bool wake = false;
  {
    const std::scoped_lock lock(shared().mutex);
    if (shared().closed) co_return fail(errc::closed, "end a transaction");
    if (!is_open(generation)) {
      if (commit) co_return gone();
      co_return result<void>{}; // the lost channel has rolled it back
    }
    waiter_ = mine;
    append_plain(shared().out, gate().number, commit ? method::tx_commit : method::tx_rollback);
    wake = shared().promise_flush();
  }
  if (wake) shared().wake();
  const bool answered = co_await mine->done.wait_until(clock().now() + shared().settings.publish_timeout);
  if (!answered) co_return fail(errc::timeout, "end a transaction: the server did not answer; the outcome is unknown");
  if (mine->failure && commit) co_return fail(*mine->failure);
  co_return result<void>{};
}

void tx_lane::roll_back(std::uint32_t generation) {
  bool wake = false;
  {
    const std::scoped_lock lock(shared().mutex);
    if (shared().closed || !is_open(generation)) return;
    append_plain(shared().out, gate().number, method::tx_rollback);
    wake = shared().promise_flush();
  }
  if (wake) shared().wake();
}

void tx_lane::wake_waiter(method answer, std::optional<error> failure) noexcept {
  std::shared_ptr<waiter> woken;
  {
    const std::scoped_lock lock(shared().mutex);
    if (!waiter_ || (answer != method::none && waiter_->answer != answer)) return;
    woken = std::exchange(waiter_, nullptr);
  }
  woken->failure = std::move(failure);
  woken->done.set();
}

bool tx_lane::on_open(session& s) {
  s.send([&](std::string& out) { append_plain(out, number(), method::tx_select); });
  return true;
}

void tx_lane::opened() noexcept {
  lane::opened();
  wake_waiter(method::tx_select_ok, std::nullopt);
}

bool tx_lane::on_method(session& s, method what, reader& args) {
  if (what == method::tx_select_ok) {
    opened();
    return true;
  }
  if (what != method::tx_commit_ok && what != method::tx_rollback_ok) return lane::on_method(s, what, args);
  wake_waiter(what, std::nullopt);
  return true;
}

void tx_lane::on_gone(session& s, std::uint16_t code, std::string_view text) noexcept {
  lane::on_gone(s, code, text);
  wake_waiter(method::none, error(errc::publish, "the transaction's channel was lost; the outcome is unknown")
                                .from_server(code, std::string(text)));
}

} // namespace millrace::rabbitmq::detail
