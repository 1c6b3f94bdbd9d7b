#pragma once

#include <millrace/codec/detail/json_type.hpp>
#include <millrace/codec/detail/json_writer.hpp>

namespace millrace::detail {

template <class T> bool write_json(json_writer& writer, const T& value);

template <class T, auto Pointer> bool write_json_member(json_writer& writer, const void* object) {
  return write_json(writer, static_cast<const T*>(object)->*Pointer);
}

template <class T, auto Pointer> bool json_member_absent(const void* object) {
  return !(static_cast<const T*>(object)->*Pointer).has_value();
}

template <class T, auto Pointer> consteval auto json_absence() -> bool (*)(const void*) {
  if constexpr (is_json_optional<json_member_type<T, Pointer>>) return &json_member_absent<T, Pointer>;
  else return nullptr;
}

template <class T, class List = json_members<T>> struct json_write_layout;
template <class T, template <class...> class List, class... Descriptors>
struct json_write_layout<T, List<Descriptors...>> {
  static constexpr std::array<json_member_writer, sizeof...(Descriptors)> members{
      json_member_writer{json_key_literal<Descriptors>::with_comma, &write_json_member<T, Descriptors::pointer>,
                         json_absence<T, Descriptors::pointer>()}...};
  static constexpr json_object_writer layout{members.data(), sizeof...(Descriptors)};
};

template <class Enum, template <class...> class List, class... Descriptors>
bool write_json_enum(json_writer& writer, Enum value, List<Descriptors...> /*enumerators*/) {
  const char* name = nullptr;
  static_cast<void>(((value == Descriptors::value && (name = Descriptors::name, true)) || ...));
  return name != nullptr ? writer.write_text(name) : writer.fail("the value is not an enumerator");
}

template <class Sequence> bool write_json_sequence(json_writer& writer, const Sequence& values) {
  if (!writer.open('[')) return false;
  std::size_t index = 0;
  for (const auto& value : values) {
    if (index != 0) writer.put(',');
    if (!write_json(writer, value)) return writer.within(index);
    ++index;
  }
  writer.close(']');
  return true;
}

template <class Map> bool write_json_map(json_writer& writer, const Map& map) {
  if (!writer.open('{')) return false;
  bool first = true;
  for (const auto& [key, value] : map) {
    if (!first) writer.put(',');
    first = false;
    if (!writer.write_text(key)) return writer.within(key);
    writer.put(':');
    if (!write_json(writer, value)) return writer.within(key);
  }
  writer.close('}');
  return true;
}

template <class T> bool write_json(json_writer& writer, const T& value) {
  if constexpr (std::same_as<T, bool>) return writer.write_bool(value), true;
  else if constexpr (json_integer<T>) return writer.write_integer(value), true;
  else if constexpr (json_float<T>) return writer.write_number(value);
  else if constexpr (std::same_as<T, std::string>) return writer.write_text(value);
  else if constexpr (json_enum<T>) return write_json_enum(writer, value, boost::describe::describe_enumerators<T>{});
  else if constexpr (is_json_optional<T>) return value ? write_json(writer, *value) : (writer.put("null"), true);
  else if constexpr (is_json_vector<T> || is_json_array<T>) return write_json_sequence(writer, value);
  else if constexpr (is_json_map<T>) return write_json_map(writer, value);
  else if constexpr (json_struct<T>) return writer.write_object(&value, json_write_layout<T>::layout);
  else explain_no_json_form<T>();
}

} // namespace millrace::detail
