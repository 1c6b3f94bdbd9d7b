#pragma once

#include <millrace/cbor/detail/reader.hpp>
#include <millrace/codec/detail/json_read.hpp>
#include <millrace/codec/detail/json_type.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::detail {

template <class T> bool read_cbor(cbor_reader& reader, T& out);

template <class T, auto Pointer> bool read_cbor_member(cbor_reader& reader, void* object) {
  return read_cbor(reader, static_cast<T*>(object)->*Pointer);
}

template <class T, class List = json_members<T>> struct cbor_layout;
template <class T, template <class...> class List, class... Descriptors> struct cbor_layout<T, List<Descriptors...>> {
  static_assert(sizeof...(Descriptors) <= 64,
                "CBOR: a struct may have 64 members; group some of them in a nested struct");
  static constexpr std::array<cbor_member, sizeof...(Descriptors)> members{cbor_member{
      Descriptors::name, &read_cbor_member<T, Descriptors::pointer>, json_resetter<T, Descriptors::pointer>()}...};
};

template <class Enum, template <class...> class List, class... Descriptors>
bool read_cbor_enum(cbor_reader& reader, Enum& out, List<Descriptors...> /*enumerators*/) {
  static constexpr std::array<std::string_view, sizeof...(Descriptors)> names{Descriptors::name...};
  static constexpr std::array<Enum, sizeof...(Descriptors)> values{Descriptors::value...};
  std::size_t index;
  if (!reader.read_enumerator(names, index)) return false;
  out = values[index];
  return true;
}

/// Reuses the elements that are there, and what they have allocated. What the head promises is not believed: memory
/// grows with the elements that come.
template <class Vector> bool read_cbor_vector(cbor_reader& reader, Vector& out) {
  cbor_run run;
  if (!reader.open_array(run)) return false;
  std::size_t count = 0;
  auto step = reader.next(run);
  for (; step == json_step::item; step = reader.next(run), ++count) {
    if (count == out.size()) out.emplace_back();
    if constexpr (std::same_as<typename Vector::value_type, bool>) {
      bool bit = false;
      if (!reader.read_bool(bit)) return reader.within(count);
      out[count] = bit;
    } else {
      if (!read_cbor(reader, out[count])) return reader.within(count);
    }
  }
  if (step == json_step::failed) return false;
  out.resize(count);
  return true;
}

template <class T, std::size_t N> bool read_cbor_array(cbor_reader& reader, std::array<T, N>& out) {
  cbor_run run;
  if (!reader.open_array(run)) return false;
  std::size_t count = 0;
  auto step = reader.next(run);
  for (; step == json_step::item; step = reader.next(run), ++count) {
    if (count == N) return reader.fail("too many elements");
    if (!read_cbor(reader, out[count])) return reader.within(count);
  }
  if (step == json_step::failed) return false;
  return count == N || reader.fail("too few elements");
}

template <class Map> bool read_cbor_map(cbor_reader& reader, Map& out) {
  json_spare_nodes<Map> spare(out);
  cbor_run run;
  if (!reader.open_map(run)) return false;
  auto step = reader.next(run);
  for (; step == json_step::item; step = reader.next(run)) {
    cbor_text key;
    if (!reader.read_text(key)) return false;
    if (!read_cbor(reader, spare.insert(out, key.text))) return reader.within(key.text);
  }
  return step == json_step::end;
}

template <class T> bool read_cbor_optional(cbor_reader& reader, std::optional<T>& out) {
  bool is_null;
  if (!reader.read_null(is_null)) return false;
  if (is_null) {
    out.reset();
    return true;
  }
  if (!out) out.emplace();
  return read_cbor(reader, *out);
}

template <class T> bool read_cbor(cbor_reader& reader, T& out) {
  if constexpr (std::same_as<T, bool>)
    return reader.read_bool(out);
  else if constexpr (json_integer<T>)
    return reader.read_integer(out);
  else if constexpr (json_float<T>)
    return reader.read_number(out);
  else if constexpr (std::same_as<T, std::string>)
    return reader.read_text(out);
  else if constexpr (json_enum<T>)
    return read_cbor_enum(reader, out, boost::describe::describe_enumerators<T>{});
  else if constexpr (is_json_optional<T>)
    return read_cbor_optional(reader, out);
  else if constexpr (is_json_vector<T>)
    return read_cbor_vector(reader, out);
  else if constexpr (is_json_array<T>)
    return read_cbor_array(reader, out);
  else if constexpr (is_json_map<T>)
    return read_cbor_map(reader, out);
  else if constexpr (json_struct<T>)
    return reader.read_struct(&out, cbor_layout<T>::members);
  else
    explain_no_json_form<T>(); // the same types, and the same advice
}

} // namespace millrace::detail
