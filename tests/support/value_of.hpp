#pragma once

#include <millrace/error.hpp>

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace millrace::test_support {

/// Throws the error's text, which fails the test.
template <class T> T value_of(result<T> r) {
  if (!r) throw std::runtime_error(r.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

} // namespace millrace::test_support
