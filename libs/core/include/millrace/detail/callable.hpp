#pragma once

#include <cstddef>
#include <tuple>

namespace millrace::detail {

/// The parameters and the result of a function, a function pointer or an object with one call operator.
template <class F> struct callable : callable<decltype(&F::operator())> {};

template <class R, class... A> struct callable<R (*)(A...)> {
  using result_type = R;
  static constexpr std::size_t arity = sizeof...(A);
  static_assert(arity > 0, "millrace: a handler takes the message first: `const T&` or `millrace::bytes_view`");
  template <std::size_t I> using argument = std::tuple_element_t<I, std::tuple<A...>>;
};

template <class R, class... A> struct callable<R(A...)> : callable<R (*)(A...)> {};
template <class R, class... A> struct callable<R (*)(A...) noexcept> : callable<R (*)(A...)> {};
template <class R, class C, class... A> struct callable<R (C::*)(A...)> : callable<R (*)(A...)> {};
template <class R, class C, class... A> struct callable<R (C::*)(A...) const> : callable<R (*)(A...)> {};
template <class R, class C, class... A> struct callable<R (C::*)(A...) noexcept> : callable<R (*)(A...)> {};
template <class R, class C, class... A> struct callable<R (C::*)(A...) const noexcept> : callable<R (*)(A...)> {};

} // namespace millrace::detail
