#pragma once

#include <millrace/error.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace {

/// Text as a template argument.
template <std::size_t N> struct fixed_text {
  char text[N]{};
  consteval fixed_text(const char (&from)[N]) { // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < N; ++i)
      text[i] = from[i];
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, N - 1}; }
};

/// A destination with placeholders, declared by a message type: `static constexpr millrace::address_template
/// destination{"orders.{region}"};`
class address_template {
 public:
  static constexpr std::size_t most = 8;
  consteval address_template(const char* pattern) : pattern_(pattern) { // NOLINT(google-explicit-constructor)
    for (std::size_t open = pattern_.find('{'); open != std::string_view::npos; open = pattern_.find('{', open + 1)) {
      names_.at(count_++) = pattern_.substr(open + 1, pattern_.find('}', open) - open - 1);
    }
  }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  /// The placeholder's number, or `most`.
  [[nodiscard]] constexpr std::size_t find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (names_[i] == name) return i;
    }
    return most;
  }
  [[nodiscard]] constexpr std::string_view pattern() const noexcept { return pattern_; }

 private:
  std::string_view pattern_;
  std::array<std::string_view, most> names_{};
  std::size_t count_ = 0;
};

namespace detail {
/// Puts a value in place of `{name}`. A value that would change the shape of the address (empty, or with a separator, a
/// wildcard or white space) is refused.
[[nodiscard]] result<void> fill_placeholder(std::string& address, std::string_view name, std::string_view value);
} // namespace detail

} // namespace millrace
