#pragma once

#include "dispatch/consume_chain.hpp"

#include <millrace/batch_invocation.hpp>
#include <millrace/invocation.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace millrace {

/// Inside a chain that suspends, a payload that does not decode travels outwards as this.
struct undecodable_message {
  error why;
};

/// The text of the exception being handled.
[[nodiscard]] std::string current_exception_text();

/// A call, single or batch, inside the middleware of its registration. Without middleware it costs one test.
template <class Call> class chained_call final : private chain_run::core {
 public:
  using verdict = invocation::verdict;

  chained_call(std::unique_ptr<Call> call, const consume_chain& chain, runtime& rt)
      : call_(std::move(call)), chain_(&chain), runtime_(&rt), around_(chain, *this), inner_end_(*this) {}

  Call* operator->() const noexcept { return call_.get(); }
  Call& operator*() const noexcept { return *call_; }

  verdict start(rendezvous& meeting, completion& done) {
    if (chain_->empty()) [[likely]]
      return call_->start(meeting, done);
    return chain_->suspends() ? start_around(meeting, done) : start_plain(meeting, done);
  }

  void collect() {
    if (chain_->empty()) [[likely]]
      return call_->collect();
    if (chain_->suspends()) return call_->replace_answer(finish_around());
    const consume_chain::interceptors parts = chain_->plain();
    guarded(*call_, parts, [this] { call_->collect(); });
    consume_chain::after(call_->ctx(), call_->answer(), parts);
  }

 private:
  template <class F> static void guarded(Call& call, consume_chain::interceptors parts, F step) {
    try {
      step();
    } catch (...) {
      consume_chain::failed(call.ctx(), current_exception_text(), parts);
      throw;
    }
  }

  /// What `before` answered. Destroying it costs nothing, not even a test, as whoever finds an outcome takes it.
  union stop_answer {
    stop_answer(interceptor& part, context& ctx) : value(part.before(ctx)) {}
    stop_answer(const stop_answer&) = delete;
    stop_answer& operator=(const stop_answer&) = delete;
    ~stop_answer() {}
    std::optional<outcome> value;
  };

  /// A message costs a dozen instructions a member and a few more: everything is kept in registers.
  verdict start_plain(rendezvous& meeting, completion& done) {
    Call& call = *call_;
    const auto [first, last] = chain_->plain();
    for (auto at = first; at != last; ++at) {
      stop_answer stop(**at, call.ctx());
      if (stop.value.has_value()) [[unlikely]]
        return stopped(call, stop.value, {first, at});
    }
    verdict v{};
    guarded(call, {first, last}, [&] { v = call.start(meeting, done); });
    if (v == verdict::finished) [[likely]]
      consume_chain::after(call.ctx(), call.answer(), {first, last});
    else if (v == verdict::undecodable)
      consume_chain::failed(call.ctx(), call.failure()->message(), {first, last});
    return v;
  }

  /// A member answered in the handler's place.
  [[gnu::cold, gnu::noinline]] static verdict stopped(Call& call, std::optional<outcome>& answer,
                                                      consume_chain::interceptors ran) {
    call.replace_answer(std::move(*answer));
    answer.reset();
    consume_chain::after(call.ctx(), call.answer(), ran);
    return verdict::finished;
  }

  verdict start_around(rendezvous& meeting, completion& done) {
    around_.attach(call_->ctx());
    running_ = around_.call(0);
    meeting.reset();
    running_.start(done);
    if (!meeting.leave()) return verdict::suspended;
    collect();
    return verdict::finished;
  }

  outcome finish_around() {
    struct cleanup {
      task<outcome>& frame;
      ~cleanup() { frame.reset(); }
    } const at_exit{running_};
    return running_.take();
  }

  /// Awaits the call itself; resumes on the runtime if it suspended.
  struct invoking {
    chained_call* self;
    verdict v = verdict::finished;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) {
      self->waiter_ = waiter;
      v = self->call_->start(self->inner_, self->inner_end_);
      return v == verdict::suspended;
    }
    void await_resume() const {
      if (v == verdict::suspended) self->call_->collect();
      if (v == verdict::undecodable) throw undecodable_message{*self->call_->failure()};
    }
  };

  task<outcome> invoke() override {
    co_await invoking{this};
    co_return std::move(call_->answer());
  }

  struct inner_end : completion, job {
    explicit inner_end(chained_call& self) noexcept
        : completion([](completion& c) noexcept {
            auto& end = static_cast<inner_end&>(c);
            if (end.owner->inner_.end()) end.owner->runtime_->post(end);
          }),
          job([](job& j) noexcept { static_cast<inner_end&>(j).owner->waiter_.resume(); }), owner(&self) {}
    chained_call* owner;
  };

  std::unique_ptr<Call> call_;
  const consume_chain* chain_;
  runtime* runtime_;
  chain_run around_;
  task<outcome> running_;
  rendezvous inner_;
  inner_end inner_end_;
  std::coroutine_handle<> waiter_;
};

} // namespace millrace
