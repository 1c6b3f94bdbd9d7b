#pragma once

#include <millrace/bytes.hpp>
#include <millrace/detail/callable.hpp>
#include <millrace/extractors.hpp>
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

/// Whether every `field` parameter belongs to this broker.
template <class F, class Connected> consteval bool fields_fit() {
  using signature = callable<F>;
  return []<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const auto one = []<class P>(std::type_identity<P>) {
      using type = std::remove_cvref_t<P>;
      if constexpr (is_field<type>)
        return std::is_void_v<typename type::broker_type> || std::is_same_v<typename type::broker_type, Connected>;
      else
        return true;
    };
    return (one(std::type_identity<typename signature::template argument<I + 1>>{}) && ...);
  }(std::make_index_sequence<signature::arity - 1>());
}

/// The outputs among a handler's parameters.
template <class F> void collect_outputs(std::vector<output_need>& needs) {
  using signature = callable<F>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const auto one = [&]<class P>(std::type_identity<P>) {
      using type = std::remove_cvref_t<P>;
      if constexpr (is_output<type>) needs.push_back({type::tag(), type::name()});
    };
    (one(std::type_identity<typename signature::template argument<I + 1>>{}), ...);
  }(std::make_index_sequence<signature::arity - 1>());
}

/// How replies of this type leave.
template <class Reply, class Codec> reply_form form_of() noexcept {
  if constexpr (std::is_void_v<Reply>) {
    return {};
  } else {
    static_assert(!declares_headers<Reply> && !templated_destination<Reply>,
                  "millrace: a reply's type may fix its destination; one that declares headers or placeholders leaves "
                  "through an `out<Marker>`");
    reply_form form{true, {}, {}};
    if constexpr (fixed_destination<Reply>) form.destination = Reply::destination;
    if constexpr (!std::is_same_v<Reply, bytes_view>) form.content_type = Codec::content_type;
    return form;
  }
}

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
    if (const auto taken = extract(); taken != detail::extracted::ready) [[unlikely]] {
      return taken == detail::extracted::undecodable ? verdict::undecodable : verdict::finished;
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
      return (*handler_)(first(), detail::handler_argument<typename signature::template argument<I + 1>, State>(
                                      std::get<I>(kept_), ctx(), state())...);
    }(further());
  }

  /// Left to right; the first parameter that is not to be had ends it.
  detail::extracted extract() {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto so_far = detail::extracted::ready;
      (void)((so_far = extract_one<I>(), so_far == detail::extracted::ready) && ...);
      return so_far;
    }(further());
  }
  template <std::size_t I> detail::extracted extract_one() {
    std::optional<error> why;
    outcome answer = ack();
    const auto taken =
        detail::extract_parameter<typename signature::template argument<I + 1>>(std::get<I>(kept_), ctx(), why, answer);
    if (taken == detail::extracted::undecodable)
      fail_with(std::move(*why));
    else if (taken == detail::extracted::settled)
      answer_with(std::move(answer));
    return taken;
  }

  decltype(auto) first() {
    if constexpr (raw)
      return ctx().payload();
    else
      return (value_);
  }

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

  using further = std::make_index_sequence<signature::arity - 1>;
  template <class> struct kept_tuple;
  template <std::size_t... I> struct kept_tuple<std::index_sequence<I...>> {
    using type =
        std::tuple<typename detail::kept_parameter<typename signature::template argument<I + 1>>::storage_type...>;
  };

  std::shared_ptr<F> handler_;
  [[no_unique_address]] typename kept_tuple<further>::type kept_{};
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
  void outputs(std::vector<output_need>& needs) const override { detail::collect_outputs<F>(needs); }
  reply_form replies() const noexcept override {
    using answer = typename detail::unwrap_task<typename detail::callable<F>::result_type>::type;
    return detail::form_of<typename detail::reply_of<answer>::type, Codec>();
  }

 private:
  std::shared_ptr<F> handler_;
};

} // namespace millrace
