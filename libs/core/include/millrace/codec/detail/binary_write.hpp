#pragma once

#include <millrace/codec/detail/json_type.hpp>

#include <concepts>
#include <cstddef>
#include <string>

namespace millrace::detail {

/// How a value is written in a format that counts what it holds, CBOR or MessagePack, by that format's writer:
/// `write_null`, `write_bool`, `write_integer`, `write_number`, `write_text`, `open_array`, `open_map`, `close`,
/// `fail`, `within`.
template <class Writer, class T> bool write_binary(Writer& writer, const T& value);

template <class T, class Descriptor> bool has_binary_member(const T& object) {
  if constexpr (is_json_optional<json_member_type<T, Descriptor::pointer>>)
    return (object.*Descriptor::pointer).has_value();
  else
    return true;
}

template <class Writer, class T, class Descriptor> bool write_binary_member(Writer& writer, const T& object) {
  if (!has_binary_member<T, Descriptor>(object)) return true;
  if (writer.write_text(Descriptor::name) && write_binary(writer, object.*Descriptor::pointer)) [[likely]]
    return true;
  return writer.within(Descriptor::name);
}

template <class Writer, class T, template <class...> class List, class... Descriptors>
bool write_binary_struct(Writer& writer, const T& object, List<Descriptors...> /*members*/) {
  const std::size_t count = (std::size_t{0} + ... + (has_binary_member<T, Descriptors>(object) ? 1 : 0));
  if (!writer.open_map(count) || !(write_binary_member<Writer, T, Descriptors>(writer, object) && ...)) return false;
  writer.close();
  return true;
}

template <class Writer, class Enum, template <class...> class List, class... Descriptors>
bool write_binary_enum(Writer& writer, Enum value, List<Descriptors...> /*enumerators*/) {
  const char* name = nullptr;
  static_cast<void>(((value == Descriptors::value && (name = Descriptors::name, true)) || ...));
  return name != nullptr ? writer.write_text(name) : writer.fail("the value is not an enumerator");
}

template <class Writer, class Sequence> bool write_binary_sequence(Writer& writer, const Sequence& values) {
  if (!writer.open_array(values.size())) return false;
  std::size_t index = 0;
  for (const auto& value : values) {
    if (!write_binary(writer, value)) return writer.within(index);
    ++index;
  }
  writer.close();
  return true;
}

template <class Writer, class Map> bool write_binary_map(Writer& writer, const Map& map) {
  if (!writer.open_map(map.size())) return false;
  for (const auto& [key, value] : map) {
    if (!writer.write_text(key) || !write_binary(writer, value)) return writer.within(key);
  }
  writer.close();
  return true;
}

template <class Writer, class T> bool write_binary(Writer& writer, const T& value) {
  if constexpr (std::same_as<T, bool>)
    return writer.write_bool(value), true;
  else if constexpr (json_integer<T>)
    return writer.write_integer(value), true;
  else if constexpr (json_float<T>)
    return writer.write_number(value), true;
  else if constexpr (std::same_as<T, std::string>)
    return writer.write_text(value);
  else if constexpr (json_enum<T>)
    return write_binary_enum(writer, value, boost::describe::describe_enumerators<T>{});
  else if constexpr (is_json_optional<T>)
    return value ? write_binary(writer, *value) : (writer.write_null(), true);
  else if constexpr (is_json_vector<T> || is_json_array<T>)
    return write_binary_sequence(writer, value);
  else if constexpr (is_json_map<T>)
    return write_binary_map(writer, value);
  else if constexpr (json_struct<T>)
    return write_binary_struct(writer, value, json_members<T>{});
  else
    explain_no_json_form<T>(); // the same types, and the same advice
}

} // namespace millrace::detail
