#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>

#include <algorithm>
#include <concepts>
#include <string>

namespace millrace::testing::detail {

template <class T> [[nodiscard]] bool same_value(const T& a, const T& b);

template <class T, template <class...> class List, class... Descriptors>
[[nodiscard]] bool same_members(const T& a, const T& b, List<Descriptors...> /*members*/) {
  return (same_value(a.*Descriptors::pointer, b.*Descriptors::pointer) && ... && true);
}

template <class Map> [[nodiscard]] bool same_entries(const Map& a, const Map& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& entry) {
           const auto found = b.find(entry.first);
           return found != b.end() && same_value(entry.second, found->second);
         });
}

/// Structs without `==`, and what contains them, compare by their described members.
template <class T> [[nodiscard]] bool same_value(const T& a, const T& b) {
  if constexpr (millrace::detail::is_json_optional<T>) {
    return a.has_value() == b.has_value() && (!a || same_value(*a, *b));
  } else if constexpr (millrace::detail::is_json_vector<T> || millrace::detail::is_json_array<T>) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return same_value(x, y); });
  } else if constexpr (millrace::detail::is_json_map<T>) {
    return same_entries(a, b);
  } else if constexpr (std::equality_comparable<T>) {
    return a == b;
  } else if constexpr (millrace::detail::json_struct<T>) {
    return same_members(a, b, millrace::detail::json_members<T>{});
  } else {
    static_assert(std::equality_comparable<T>, "millrace: to compare it, give the type an operator== or describe it "
                                               "(BOOST_DESCRIBE_STRUCT)");
  }
}

/// The value as JSON, or nothing where it has no JSON form.
template <class T> [[nodiscard]] std::string show_value(const T& value) {
  std::string text;
  if constexpr (json_encodable<T>) {
    if (!json_codec::encode(value, text)) text.clear();
  }
  return text;
}

} // namespace millrace::testing::detail
