#pragma once

#include <millrace/batch_invocation.hpp>
#include <millrace/bytes.hpp>
#include <millrace/handler.hpp>

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace millrace {

namespace detail {
template <class> inline constexpr bool is_span = false;
template <class T> inline constexpr bool is_span<std::span<T>> = !std::is_same_v<std::span<T>, bytes_view>;
template <class> inline constexpr bool is_vector = false;
template <class T, class A> inline constexpr bool is_vector<std::vector<T, A>> = true;

/// The element of a batch handler's replies, or nothing.
template <class R> struct batch_reply_of {
  using type = void;
};
template <class T, class A> struct batch_reply_of<std::vector<T, A>> {
  using type = std::conditional_t<std::is_same_v<T, outcome>, void, T>;
};
template <class T, class E> struct batch_reply_of<std::expected<T, E>> : batch_reply_of<T> {};
} // namespace detail

/// The handler takes `std::span<const T>` (or `std::span<const bytes_view>`): it is called with batches.
template <class F>
concept batch_handler =
    detail::is_span<std::remove_cvref_t<typename detail::callable<std::decay_t<F>>::template argument<0>>>;

/// A worker's instance of one batch handler. Values are decoded in place and reused.
template <class F, class Codec, class State> class typed_batch_invocation final : public batch_invocation {
  using signature = detail::callable<F>;
  using element =
      std::remove_cv_t<typename std::remove_cvref_t<typename signature::template argument<0>>::element_type>;
  using returned = typename signature::result_type;
  using answer_type = typename detail::unwrap_task<returned>::type;
  static constexpr bool raw = std::is_same_v<element, bytes_view>;
  static constexpr bool suspends = is_task<returned>;

 public:
  explicit typed_batch_invocation(std::shared_ptr<F> handler) : handler_(std::move(handler)) {}

  void begin() noexcept override { count_ = 0; }

  result<void> add(incoming& m) override {
    if (count_ == values_.size()) values_.emplace_back();
    if constexpr (raw) {
      values_[count_] = m.payload();
    } else {
      auto decoded = Codec::decode(m.payload(), values_[count_]);
      if (!decoded) [[unlikely]]
        return decoded;
    }
    ++count_;
    return {};
  }

  invocation::verdict start(rendezvous& meeting, completion& done) override {
    if constexpr (suspends) {
      running_ = call();
      meeting.reset();
      running_.start(done);
      if (!meeting.leave()) return invocation::verdict::suspended;
      collect();
    } else if constexpr (std::is_void_v<answer_type>) {
      call();
      answer_with(ack());
    } else {
      accept(call());
    }
    return invocation::verdict::finished;
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

 private:
  returned call() {
    return [this]<std::size_t... I>(std::index_sequence<I...>) -> returned {
      return (*handler_)(std::span<const element>(values_.data(), count_),
                         parameter<typename signature::template argument<I + 1>>()...);
    }(std::make_index_sequence<signature::arity - 1>());
  }

  template <class P> decltype(auto) parameter() {
    using type = std::remove_cvref_t<P>;
    static_assert(!detail::is_typed_headers<type> && !detail::is_field<type> && !extractor<type>,
                  "millrace: a batch has no headers or fields of its own: a batch handler's further parameters are "
                  "`millrace::context&`, "
                  "`const State&` and `millrace::out<Marker>`");
    static std::monostate nothing;
    return detail::handler_argument<P, State>(nothing, ctx(), state());
  }

  template <class R> void accept(R&& answer) {
    using type = std::remove_cvref_t<R>;
    if constexpr (std::is_same_v<type, outcome>) {
      answer_with(std::forward<R>(answer));
    } else if constexpr (std::is_same_v<type, std::vector<outcome>>) {
      answer_each(std::forward<R>(answer));
    } else if constexpr (detail::is_vector<type>) {
      accept_replies(answer);
    } else {
      static_assert(
          detail::is_expected<type>,
          "millrace: a batch handler answers nothing, an `outcome`, a `std::vector<outcome>`, a `std::vector` of "
          "replies, or a `std::expected` of one of these");
      accept_expected(std::forward<R>(answer));
    }
  }

  template <class T> void accept_replies(const std::vector<T>& replies) {
    answer_with(ack());
    for (const T& reply : replies) {
      if (auto encoded = Codec::encode(reply, next_reply()); !encoded) {
        drop_replies();
        fail_with(std::move(encoded).error());
        return answer_with(drop());
      }
    }
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

  std::shared_ptr<F> handler_;
  std::vector<element> values_;
  std::size_t count_ = 0;
  [[no_unique_address]] std::conditional_t<suspends, returned, std::tuple<>> running_{};
};

template <class F, class Codec, class State> class typed_batch_factory final : public batch_invocation_factory {
 public:
  explicit typed_batch_factory(F handler) : handler_(std::make_shared<F>(std::move(handler))) {}
  std::unique_ptr<batch_invocation> make(const invocation_binding& to) override {
    auto made = std::make_unique<typed_batch_invocation<F, Codec, State>>(handler_);
    made->bind(to);
    return made;
  }
  void outputs(std::vector<output_need>& needs) const override { detail::collect_outputs<F>(needs); }
  reply_form replies() const noexcept override {
    using answer = typename detail::unwrap_task<typename detail::callable<F>::result_type>::type;
    return detail::form_of<typename detail::batch_reply_of<answer>::type, Codec>();
  }

 private:
  std::shared_ptr<F> handler_;
};

} // namespace millrace
