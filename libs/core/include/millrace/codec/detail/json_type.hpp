#pragma once

#include <boost/describe/bases.hpp>
#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace millrace::detail {

template <class T, class... Us>
concept json_one_of = (std::same_as<T, Us> || ...);

/// Integers that are numbers: characters are not.
template <class T>
concept json_integer = json_one_of<T, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned,
                                   unsigned long, unsigned long long>;
template <class T>
concept json_float = json_one_of<T, float, double>;
template <class T>
concept json_enum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;
template <class T>
concept json_struct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value &&
                      boost::describe::has_describe_bases<T>::value;

template <class T> inline constexpr bool is_json_optional = false;
template <class T> inline constexpr bool is_json_optional<std::optional<T>> = true;
template <class T> inline constexpr bool is_json_vector = false;
template <class T, class A> inline constexpr bool is_json_vector<std::vector<T, A>> = true;
template <class T> inline constexpr bool is_json_array = false;
template <class T, std::size_t N> inline constexpr bool is_json_array<std::array<T, N>> = true;
template <class T> inline constexpr bool is_json_map = false;
template <class T, class C, class A> inline constexpr bool is_json_map<std::map<std::string, T, C, A>> = true;
template <class T, class H, class E, class A>
inline constexpr bool is_json_map<std::unordered_map<std::string, T, H, E, A>> = true;

/// The public data members, those of described bases first.
template <class T> using json_members =
    boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

template <class T, auto Pointer> using json_member_type = std::remove_cvref_t<decltype(std::declval<T&>().*Pointer)>;

/// `"name":` of a member descriptor.
template <class Descriptor> struct json_key_literal {
  static constexpr auto bytes = [] {
    constexpr std::string_view name = Descriptor::name;
    std::array<char, name.size() + 3> key{'"'};
    for (std::size_t i = 0; i != name.size(); ++i)
      key[i + 1] = name[i];
    key[name.size() + 1] = '"';
    key[name.size() + 2] = ':';
    return key;
  }();
  static constexpr std::string_view text{bytes.data(), bytes.size()};
};

/// Whether `T` has a JSON form. `Seen` are the structs that are being looked at, because a struct may contain itself.
template <class T, class... Seen> consteval bool json_has_form();

template <class T, class List, class... Seen> struct json_members_have_form;
template <class T, template <class...> class List, class... Descriptors, class... Seen>
struct json_members_have_form<T, List<Descriptors...>, Seen...> {
  static constexpr bool value = (json_has_form<json_member_type<T, Descriptors::pointer>, T, Seen...>() && ... && true);
};

template <class T, class... Seen> consteval bool json_has_form() {
  if constexpr (json_one_of<T, bool, std::string, Seen...> || json_integer<T> || json_float<T> || json_enum<T>) {
    return true;
  } else if constexpr (is_json_optional<T> || is_json_vector<T> || is_json_array<T>) {
    return json_has_form<typename T::value_type, Seen...>();
  } else if constexpr (is_json_map<T>) {
    return json_has_form<typename T::mapped_type, Seen...>();
  } else if constexpr (json_struct<T>) {
    return json_members_have_form<T, json_members<T>, Seen...>::value;
  } else {
    return false;
  }
}

template <class T> inline constexpr bool is_json_owner = false;
template <class T, class D> inline constexpr bool is_json_owner<std::unique_ptr<T, D>> = true;
template <class T> inline constexpr bool is_json_owner<std::shared_ptr<T>> = true;
template <class T>
concept json_foreign_map = requires {
  typename T::key_type;
  typename T::mapped_type;
};

/// Stops the compilation with what to write instead of `T`.
template <class T> consteval void explain_no_json_form() {
  constexpr bool view = std::same_as<T, std::string_view> || std::same_as<T, const char*>;
  constexpr bool character = json_one_of<T, char, wchar_t, char8_t, char16_t, char32_t>;
  constexpr bool pointer = !view && (std::is_pointer_v<T> || is_json_owner<T>);
  static_assert(!view, "JSON: the value would point into a payload that is gone after the handler; write std::string");
  static_assert(!character, "JSON: a character is neither a number nor a text; write std::string or std::int8_t");
  static_assert(!std::is_floating_point_v<T>, "JSON: write double instead of long double");
  static_assert(!pointer, "JSON: a pointer has no JSON form; write std::optional<T> or std::vector<T>");
  static_assert(!std::is_enum_v<T>, "JSON: describe the enum next to its definition: BOOST_DESCRIBE_ENUM(name, a, b)");
  static_assert(!json_foreign_map<T>, "JSON: write std::map<std::string, T> or std::unordered_map<std::string, T>");
  static_assert(view || character || pointer || std::is_floating_point_v<T> || std::is_enum_v<T> || json_foreign_map<T>,
                "JSON: the type has no JSON form; describe the struct next to its definition, "
                "BOOST_DESCRIBE_STRUCT(name, (), (member, ...)), or write std::vector, std::array or std::optional");
}

} // namespace millrace::detail
