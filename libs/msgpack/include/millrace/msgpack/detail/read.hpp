#pragma once

#include <millrace/codec/detail/json_read.hpp>
#include <millrace/codec/detail/json_type.hpp>
#include <millrace/msgpack/detail/reader.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::detail {

template <class T> bool read_msgpack(msgpack_reader& reader, T& out);

template <class T, auto Pointer> bool read_msgpack_member(msgpack_reader& reader, void* object) {
  return read_msgpack(reader, static_cast<T*>(object)->*Pointer);
}

template <class T, class List = json_members<T>> struct msgpack_layout;
template <class T, template <class...> class List, class... Descriptors>
struct msgpack_layout<T, List<Descriptors...>> {
  static_assert(sizeof...(Descriptors) <= 64,
                "MessagePack: a struct may have 64 members; group some of them in a nested struct");
  static constexpr std::array<msgpack_member, sizeof...(Descriptors)> members{msgpack_member{
      Descriptors::name, &read_msgpack_member<T, Descriptors::pointer>, json_resetter<T, Descriptors::pointer>()}...};
};

template <class Enum, template <class...> class List, class... Descriptors>
bool read_msgpack_enum(msgpack_reader& reader, Enum& out, List<Descriptors...> /*enumerators*/) {
  static constexpr std::array<std::string_view, sizeof...(Descriptors)> names{Descriptors::name...};
  static constexpr std::array<Enum, sizeof...(Descriptors)> values{Descriptors::value...};
  std::size_t index = 0;
  if (!reader.read_enumerator(names, index)) return false;
  out = values[index];
  return true;
}

/// Reuses the elements that are there, and what they have allocated. What the head promises is not believed: memory
/// grows with the elements that come.
template <class Vector> bool read_msgpack_vector(msgpack_reader& reader, Vector& out) {
  std::uint64_t count = 0;
  if (!reader.open_array(count)) return false;
  for (std::size_t i = 0; i != count; ++i) {
    if (i == out.size()) out.emplace_back();
    if constexpr (std::same_as<typename Vector::value_type, bool>) {
      bool bit = false;
      if (!reader.read_bool(bit)) return reader.within(i);
      out[i] = bit;
    } else {
      if (!read_msgpack(reader, out[i])) return reader.within(i);
    }
  }
  reader.close();
  out.resize(static_cast<std::size_t>(count));
  return true;
}

template <class T, std::size_t N> bool read_msgpack_array(msgpack_reader& reader, std::array<T, N>& out) {
  std::uint64_t count = 0;
  if (!reader.open_array(count)) return false;
  if (count != N) return reader.fail(count < N ? "too few elements" : "too many elements");
  for (std::size_t i = 0; i != N; ++i) {
    if (!read_msgpack(reader, out[i])) return reader.within(i);
  }
  reader.close();
  return true;
}

template <class Map> bool read_msgpack_map(msgpack_reader& reader, Map& out) {
  json_spare_nodes<Map> spare(out);
  std::uint64_t count = 0;
  if (!reader.open_map(count)) return false;
  for (; count != 0; --count) {
    std::string_view key;
    if (!reader.read_text(key)) return false;
    if (!read_msgpack(reader, spare.insert(out, key))) return reader.within(key);
  }
  reader.close();
  return true;
}

template <class T> bool read_msgpack_optional(msgpack_reader& reader, std::optional<T>& out) {
  if (reader.take_nil()) {
    out.reset();
    return true;
  }
  if (!out) out.emplace();
  return read_msgpack(reader, *out);
}

template <class T> bool read_msgpack(msgpack_reader& reader, T& out) {
  if constexpr (std::same_as<T, bool>)
    return reader.read_bool(out);
  else if constexpr (json_integer<T>)
    return reader.read_integer(out);
  else if constexpr (json_float<T>)
    return reader.read_number(out);
  else if constexpr (std::same_as<T, std::string>)
    return reader.read_text(out);
  else if constexpr (json_enum<T>)
    return read_msgpack_enum(reader, out, boost::describe::describe_enumerators<T>{});
  else if constexpr (is_json_optional<T>)
    return read_msgpack_optional(reader, out);
  else if constexpr (is_json_vector<T>)
    return read_msgpack_vector(reader, out);
  else if constexpr (is_json_array<T>)
    return read_msgpack_array(reader, out);
  else if constexpr (is_json_map<T>)
    return read_msgpack_map(reader, out);
  else if constexpr (json_struct<T>)
    return reader.read_struct(&out, msgpack_layout<T>::members);
  else
    explain_no_json_form<T>(); // the same types, and the same advice
}

} // namespace millrace::detail
