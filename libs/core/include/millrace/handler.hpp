#pragma once

#include <millrace/bytes.hpp>
#include <millrace/detail/callable.hpp>
#include <millrace/invocation.hpp>

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace millrace {

namespace detail {

template <class> inline constexpr bool is_expected = false;
template <class T, class E> inline constexpr bool is_expected<std::expected<T, E>> = true;

template <class T> struct unwrap_task {
  using type = T;
};
template <class T> struct unwrap_task<task<T>> {
  using type = T;
};

/// What a handler's result carries to its reply: nothing (`void`), or the type.
template <class R> struct reply_of {
  using type = R;
};
template <> struct reply_of<void> {
  using type = void;
};
template <> struct reply_of<outcome> {
  using type = void;
};
template <class T, class E> struct reply_of<std::expected<T, E>> : reply_of<T> {};

[[nodiscard]] error handler_error(std::string text);

/// The text of a handler's error value, for the log: RustStream throws it away.
template <class E> [[nodiscard]] error describe_failure(const E& e) {
  if constexpr (std::is_same_v<E, error>)
    return e;
  else if constexpr (std::is_convertible_v<const E&, std::string>)
    return handler_error(e);
  else if constexpr (requires { std::string(e.message()); })
    return handler_error(e.message());
  else
    return handler_error("the handler's error side");
}

/// The value of one of a handler's further parameters.
template <class P, class State> decltype(auto) handler_parameter(context& ctx, const void* state) {
  using type = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<type, context>) {
    static_assert(std::is_same_v<P, context&>, "millrace: take the context as `millrace::context&`");
    return static_cast<context&>(ctx);
  } else {
    static_assert(
        std::is_same_v<type, State>,
        "millrace: a handler's further parameters are `millrace::context&` and `const State&`, the service's state "
        "type: build the service as `millrace::service<State>`");
    return *static_cast<const type*>(state);
  }
}

} // namespace detail

/// A worker's instance of one handler: decode into a reused value, call, translate the result. One instantiation a
/// handler.
template <class F, class Codec, class State> class typed_invocation final : public invocation {
  using signature = detail::callable<F>;
  using message = std::remove_cvref_t<typename signature::template argument<0>>;
  using returned = typename signature::result_type;
  using answer_type = typename detail::unwrap_task<returned>::type;
  static constexpr bool raw = std::is_same_v<message, bytes_view>;
  static constexpr bool suspends = is_task<returned>;

 public:
  explicit typed_invocation(std::shared_ptr<F> handler) : handler_(std::move(handler)) {}

  verdict start(rendezvous& meeting, completion& done) override {
    if constexpr (!raw) {
      if (auto decoded = Codec::decode(ctx().payload(), value_); !decoded) [[unlikely]] {
        fail_with(std::move(decoded).error());
        return verdict::undecodable;
      }
    }
    if constexpr (suspends) {
      running_ = call();
      meeting.reset();
      running_.start(done);
      if (!meeting.leave()) return verdict::suspended;
      collect();
    } else if constexpr (std::is_void_v<answer_type>) {
      call();
      answer_with(ack());
    } else {
      accept(call());
    }
    return verdict::finished;
  }

  void collect() override {
    if constexpr (suspends) {
      struct cleanup {
        returned& frame;
        ~cleanup() { frame.reset(); }
      } const at_exit{running_};
      if constexpr (std::is_void_v<answer_type>) {
        running_.take();
        answer_with(ack());
      } else {
        accept(running_.take());
      }
    }
  }

  void abandon() noexcept override {
    if constexpr (suspends) running_.reset();
  }

 private:
  returned call() {
    return [this]<std::size_t... I>(std::index_sequence<I...>) -> returned {
      return (*handler_)(first(), parameter<typename signature::template argument<I + 1>>()...);
    }(std::make_index_sequence<signature::arity - 1>());
  }

  decltype(auto) first() {
    if constexpr (raw)
      return ctx().payload();
    else
      return (value_);
  }

  template <class P> decltype(auto) parameter() { return detail::handler_parameter<P, State>(ctx(), state()); }

  template <class R> void accept(R&& answer) {
    using type = std::remove_cvref_t<R>;
    if constexpr (std::is_same_v<type, outcome>)
      answer_with(std::forward<R>(answer));
    else if constexpr (detail::is_expected<type>)
      accept_expected(std::forward<R>(answer));
    else
      accept_reply(answer);
  }

  template <class T, class E> void accept_expected(std::expected<T, E>&& answer) {
    if (answer.has_value()) {
      if constexpr (std::is_void_v<T>)
        answer_with(ack());
      else
        accept(std::move(*answer));
    } else if constexpr (std::is_same_v<E, outcome>) {
      answer_with(std::move(answer).error());
    } else {
      fail_with(detail::describe_failure(answer.error()));
      answer_with(drop());
    }
  }

  template <class T> void accept_reply(const T& reply) {
    byte_buffer& out = begin_reply();
    out.clear();
    answer_with(ack());
    if constexpr (std::is_same_v<T, bytes_view>)
      out.assign(as_text(reply));
    else if (auto encoded = Codec::encode(reply, out); !encoded) {
      drop_reply();
      fail_with(std::move(encoded).error());
      answer_with(drop());
    }
  }

  std::shared_ptr<F> handler_;
  [[no_unique_address]] std::conditional_t<raw, std::tuple<>, message> value_{};
  [[no_unique_address]] std::conditional_t<suspends, returned, std::tuple<>> running_{};
};

template <class F, class Codec, class State> class typed_factory final : public invocation_factory {
 public:
  explicit typed_factory(F handler) : handler_(std::make_shared<F>(std::move(handler))) {}
  std::unique_ptr<invocation> make(const invocation_binding& to) override {
    auto made = std::make_unique<typed_invocation<F, Codec, State>>(handler_);
    made->bind(to);
    return made;
  }
  bool replies() const noexcept override {
    using answer = typename detail::unwrap_task<typename detail::callable<F>::result_type>::type;
    return !std::is_void_v<typename detail::reply_of<answer>::type>;
  }

 private:
  std::shared_ptr<F> handler_;
};

} // namespace millrace
