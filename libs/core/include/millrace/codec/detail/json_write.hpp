#pragma once

#include <millrace/codec/detail/json_type.hpp>
#include <millrace/codec/detail/json_writer.hpp>

namespace millrace::detail {

template <class T> bool write_json(json_writer& writer, const T& value);

template <class T, class Descriptor> bool write_json_member(json_writer& writer, const T& object) {
  const auto& value = object.*Descriptor::pointer;
  if constexpr (is_json_optional<json_member_type<T, Descriptor::pointer>>) {
    if (!value) return true;
  }
  writer.put(json_key_literal<Descriptor>::text);
  if (!write_json(writer, value)) [[unlikely]]
    return writer.within(Descriptor::name);
  writer.put(',');
  return true;
}

template <class T, template <class...> class List, class... Descriptors>
bool write_json_struct(json_writer& writer, const T& object, List<Descriptors...> /*members*/) {
  if (!writer.open('{') || !(write_json_member<T, Descriptors>(writer, object) && ...)) return false;
  writer.close('}');
  return true;
}

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
    if (!write_json(writer, value)) return writer.within(index);
    writer.put(',');
    ++index;
  }
  writer.close(']');
  return true;
}

template <class Map> bool write_json_map(json_writer& writer, const Map& map) {
  if (!writer.open('{')) return false;
  for (const auto& [key, value] : map) {
    if (!writer.write_text(key)) return writer.within(key);
    writer.put(':');
    if (!write_json(writer, value)) return writer.within(key);
    writer.put(',');
  }
  writer.close('}');
  return true;
}

template <class T> bool write_json(json_writer& writer, const T& value) {
  if constexpr (std::same_as<T, bool>)
    return writer.write_bool(value), true;
  else if constexpr (json_integer<T>)
    return writer.write_integer(value), true;
  else if constexpr (json_float<T>)
    return writer.write_number(value);
  else if constexpr (std::same_as<T, std::string>)
    return writer.write_text(value);
  else if constexpr (json_enum<T>)
    return write_json_enum(writer, value, boost::describe::describe_enumerators<T>{});
  else if constexpr (is_json_optional<T>)
    return value ? write_json(writer, *value) : (writer.put("null"), true);
  else if constexpr (is_json_vector<T> || is_json_array<T>)
    return write_json_sequence(writer, value);
  else if constexpr (is_json_map<T>)
    return write_json_map(writer, value);
  else if constexpr (json_struct<T>)
    return write_json_struct(writer, value, json_members<T>{});
  else
    explain_no_json_form<T>();
}

} // namespace millrace::detail
