#pragma once

#include <millrace/runtime.hpp>

#include <boost/asio/async_result.hpp>
#include <coroutine>
#include <optional>
#include <tuple>
#include <utility>

namespace millrace {

/// A completion token that makes every Asio operation awaitable in a handler: `auto [ec, n] = co_await
/// socket.async_read_some(buffer, use_runtime(ctx.runtime()))`. The operation starts when awaited and answers a tuple
/// of its results; it completes on its own executor and the handler resumes on the service's runtime. A test waits for
/// it (`external_begin`). Asio stays out of every other public header.
class use_runtime {
 public:
  explicit use_runtime(runtime& rt) noexcept : rt_(&rt) {}
  [[nodiscard]] runtime& rt() const noexcept { return *rt_; }

 private:
  runtime* rt_;
};

namespace detail {

/// Awaits one Asio operation. Immovable: the operation writes its results here.
template <class Launch, class... Results> class asio_awaiter {
 public:
  asio_awaiter(runtime& rt, Launch launch) : rt_(&rt), launch_(std::move(launch)), resume_(*this) {}
  asio_awaiter(const asio_awaiter&) = delete;
  asio_awaiter& operator=(const asio_awaiter&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    rt_->external_begin();
    std::move(launch_)(handler(this));
  }
  std::tuple<Results...> await_resume() { return std::move(*results_); }

 private:
  class handler {
   public:
    explicit handler(asio_awaiter* owner) noexcept : owner_(owner) {}
    template <class... A> void operator()(A&&... results) {
      runtime& rt = *owner_->rt_;
      owner_->results_.emplace(std::forward<A>(results)...);
      rt.external_post(owner_->resume_); // from here on the awaiter and the runtime may be gone
    }

   private:
    asio_awaiter* owner_;
  };
  struct resume_job : job {
    explicit resume_job(asio_awaiter& self) noexcept
        : job([](job& j) noexcept { static_cast<resume_job&>(j).owner->waiter_.resume(); }), owner(&self) {}
    asio_awaiter* owner;
  };
  runtime* rt_;
  Launch launch_;
  std::coroutine_handle<> waiter_;
  std::optional<std::tuple<Results...>> results_;
  resume_job resume_;
};

/// An initiation and its arguments, run later with a handler. A class rather than a lambda: g++ 12 destroys capturing
/// lambdas twice inside an awaited expression.
template <class Initiation, class... Args> class asio_launch {
 public:
  explicit asio_launch(Initiation initiation, Args... args)
      : initiation_(std::move(initiation)), args_(std::move(args)...) {}
  template <class Handler> void operator()(Handler handler) && {
    std::apply([&](Args&... args) { std::move(initiation_)(std::move(handler), std::move(args)...); }, args_);
  }

 private:
  Initiation initiation_;
  std::tuple<Args...> args_;
};

} // namespace detail
} // namespace millrace

template <class... Results> class boost::asio::async_result<millrace::use_runtime, void(Results...)> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, millrace::use_runtime token, Args&&... args) {
    using launch = millrace::detail::asio_launch<std::decay_t<Initiation>, std::decay_t<Args>...>;
    return millrace::detail::asio_awaiter<launch, std::decay_t<Results>...>(
        token.rt(), launch(std::forward<Initiation>(initiation), std::forward<Args>(args)...));
  }
};
