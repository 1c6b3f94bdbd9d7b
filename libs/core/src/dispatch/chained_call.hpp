#pragma once

#include "dispatch/consume_chain.hpp"

#include <millrace/batch_invocation.hpp>
#include <millrace/invocation.hpp>

#include <coroutine>
#include <exception>
#include <memory>
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
    guarded([this] { call_->collect(); });
    chain_->after(call_->ctx(), call_->answer(), ran_);
  }

 private:
  template <class F> void guarded(F step) {
    try {
      step();
    } catch (...) {
      chain_->failed(call_->ctx(), current_exception_text(), ran_);
      throw;
    }
  }

  verdict start_plain(rendezvous& meeting, completion& done) {
    if (auto stop = chain_->before(call_->ctx(), ran_)) {
      call_->replace_answer(std::move(*stop));
      chain_->after(call_->ctx(), call_->answer(), ran_);
      return verdict::finished;
    }
    verdict v{};
    guarded([&] { v = call_->start(meeting, done); });
    if (v == verdict::finished)
      chain_->after(call_->ctx(), call_->answer(), ran_);
    else if (v == verdict::undecodable)
      chain_->failed(call_->ctx(), call_->failure()->message(), ran_);
    return v;
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
  std::size_t ran_ = 0;
  chain_run around_;
  task<outcome> running_;
  rendezvous inner_;
  inner_end inner_end_;
  std::coroutine_handle<> waiter_;
};

} // namespace millrace
