#pragma once

#include <millrace/error.hpp>
#include <millrace/headers.hpp>

#include <boost/describe/enum.hpp>
#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace millrace {

namespace detail {

template <class> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;

[[nodiscard]] std::unexpected<error> bad_header(std::string_view name, std::string_view why);
/// `tenant_id` travels as `tenant-id`.
[[nodiscard]] std::string header_name_of(std::string_view member);
[[nodiscard]] bool parse_header(std::string_view text, bool& into) noexcept;

template <class T> [[nodiscard]] bool parse_header(std::string_view text, T& into) {
  if constexpr (std::is_same_v<T, std::string>) {
    into.assign(text);
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    return boost::describe::enum_from_string(std::string(text).c_str(), into);
  } else {
    static_assert(
        std::integral<T> || std::floating_point<T>,
        "millrace: a typed header is a number, a bool, a std::string, a described enum, or a std::optional of one");
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), into);
    return failure == std::errc{} && end == text.data() + text.size();
  }
}

template <class T> void format_header(const T& value, std::string& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out = value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    out = value;
  } else if constexpr (std::is_enum_v<T>) {
    out = boost::describe::enum_to_string(value, "");
  } else {
    char digits[64];
    const auto [end, failure] = std::to_chars(digits, digits + sizeof digits, value);
    out.assign(digits, failure == std::errc{} ? static_cast<std::size_t>(end - digits) : 0);
  }
}

template <class H> using header_members = boost::describe::describe_members<H, boost::describe::mod_public>;

} // namespace detail

/// A header contract: a described struct of scalars. Member `tenant_id` is header `tenant-id`; an optional member may
/// be missing.
template <class H>
concept header_contract =
    std::is_class_v<H> && std::default_initializable<H> && boost::describe::has_describe_members<H>::value;

/// Reads a contract; the error names the header that is missing or does not parse. `into` is reused.
template <header_contract H> [[nodiscard]] result<void> read_headers(const header_map& from, H& into) {
  result<void> done;
  boost::mp11::mp_for_each<detail::header_members<H>>([&](auto member) {
    if (!done) return;
    static const std::string name = detail::header_name_of(member.name);
    auto& value = into.*member.pointer;
    using type = std::remove_cvref_t<decltype(value)>;
    const auto text = from.get(name);
    if constexpr (detail::is_optional<type>) {
      if (!text) return value.reset();
      if (!detail::parse_header(*text, value.emplace())) done = detail::bad_header(name, "does not parse");
    } else {
      if (!text)
        done = detail::bad_header(name, "is missing");
      else if (!detail::parse_header(*text, value))
        done = detail::bad_header(name, "does not parse");
    }
  });
  return done;
}

/// Writes a contract over what `into` has.
template <header_contract H> void write_headers(const H& from, header_map& into) {
  std::string text;
  boost::mp11::mp_for_each<detail::header_members<H>>([&](auto member) {
    static const std::string name = detail::header_name_of(member.name);
    const auto& value = from.*member.pointer;
    if constexpr (detail::is_optional<std::remove_cvref_t<decltype(value)>>) {
      if (!value) return;
      detail::format_header(*value, text);
    } else {
      detail::format_header(value, text);
    }
    into.set(name, text);
  });
}

/// A handler parameter: the message's headers as a contract. What does not fit follows the registration's policy for
/// undecodable messages.
template <header_contract H> class typed_headers {
 public:
  [[nodiscard]] const H& operator*() const noexcept { return value_; }
  [[nodiscard]] const H* operator->() const noexcept { return &value_; }
  [[nodiscard]] result<void> read(const header_map& from) { return read_headers(from, value_); }

 private:
  H value_{};
};

} // namespace millrace
