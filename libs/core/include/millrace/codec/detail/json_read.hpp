#pragma once

#include <millrace/codec/detail/json_reader.hpp>
#include <millrace/codec/detail/json_type.hpp>

#include <utility>

namespace millrace::detail {

template <class T> bool read_json(json_reader& reader, T& out);

template <class T, auto Pointer> bool read_json_member(json_reader& reader, void* object) {
  return read_json(reader, static_cast<T*>(object)->*Pointer);
}

template <class T, auto Pointer> void reset_json_member(void* object) { (static_cast<T*>(object)->*Pointer).reset(); }

template <class T, auto Pointer> consteval auto json_resetter() -> void (*)(void*) {
  if constexpr (is_json_optional<json_member_type<T, Pointer>>)
    return &reset_json_member<T, Pointer>;
  else
    return nullptr;
}

template <class T, class List = json_members<T>> struct json_read_layout;
template <class T, template <class...> class List, class... Descriptors>
struct json_read_layout<T, List<Descriptors...>> {
  static constexpr unsigned count = sizeof...(Descriptors);
  static_assert(count <= 64, "JSON: a struct may have 64 members; group some of them in a nested struct");

  static constexpr std::array<json_member_reader, count> members{
      json_member_reader(json_key_literal<Descriptors>::text, &read_json_member<T, Descriptors::pointer>,
                         json_resetter<T, Descriptors::pointer>())...};
  static constexpr json_object_reader layout{members.data(), count, count == 0 ? 0 : ~std::uint64_t{0} >> (64 - count)};
};

template <class T, auto Pointer, unsigned Index>
[[gnu::always_inline]] inline json_progress read_json_in_order(json_reader& reader, T& out) {
  using layout = json_read_layout<T>;
  if (!reader.take(layout::members[Index])) [[unlikely]]
    return json_progress::at_key;
  if (!read_json(reader, out.*Pointer)) [[unlikely]] {
    reader.within(layout::members[Index].name());
    return json_progress::failed;
  }
  if constexpr (Index + 1 == layout::count) {
    return reader.take('}') ? json_progress::done : json_progress::after_value;
  } else {
    return reader.take(',') ? json_progress::done : json_progress::after_value;
  }
}

template <class T, template <class...> class List, class... Descriptors, unsigned... Indices>
bool read_json_struct(json_reader& reader, T& out, List<Descriptors...> /*members*/,
                      std::integer_sequence<unsigned, Indices...> /*indices*/) {
  if (!reader.open_struct()) return false;
  auto progress = json_progress::at_key;
  unsigned stop = 0;
  const bool complete =
      (((progress = read_json_in_order<T, Descriptors::pointer, Indices>(reader, out)) == json_progress::done ||
        (stop = Indices, false)) &&
       ...);
  if (complete && sizeof...(Indices) != 0) [[likely]] {
    reader.close_struct();
    return true;
  }
  if (progress == json_progress::failed) return false;
  return reader.read_rest(&out, json_read_layout<T>::layout, stop + (progress == json_progress::after_value ? 1 : 0),
                          progress);
}

template <class Enum, template <class...> class List, class... Descriptors>
bool read_json_enum(json_reader& reader, Enum& out, List<Descriptors...> /*enumerators*/) {
  static constexpr std::array<std::string_view, sizeof...(Descriptors)> names{Descriptors::name...};
  static constexpr std::array<Enum, sizeof...(Descriptors)> values{Descriptors::value...};
  std::size_t index;
  if (!reader.read_enumerator(names, index)) return false;
  out = values[index];
  return true;
}

/// Reuses the elements that are there, and what they have allocated.
template <class Vector> bool read_json_vector(json_reader& reader, Vector& out) {
  using element = typename Vector::value_type;
  static_assert(std::default_initializable<element>, "JSON: the elements of a vector need a default constructor");
  std::size_t count = 0;
  auto step = reader.open_array();
  for (; step == json_step::item; step = reader.next_element(), ++count) {
    if (count == out.size()) out.emplace_back();
    if constexpr (std::same_as<element, bool>) {
      bool bit = false;
      if (!reader.read_bool(bit)) return reader.within(count);
      out[count] = bit;
    } else {
      if (!read_json(reader, out[count])) return reader.within(count);
    }
  }
  if (step == json_step::failed) return false;
  out.resize(count);
  return true;
}

template <class T, std::size_t N> bool read_json_array(json_reader& reader, std::array<T, N>& out) {
  std::size_t count = 0;
  auto step = reader.open_array();
  for (; step == json_step::item; step = reader.next_element(), ++count) {
    if (count == N) return reader.fail("too many elements");
    if (!read_json(reader, out[count])) return reader.within(count);
  }
  if (step == json_step::failed) return false;
  return count == N || reader.fail("too few elements");
}

/// Empties a map and keeps a few of its nodes, so that maps of up to that size are read without allocating.
template <class Map> class json_spare_nodes {
 public:
  explicit json_spare_nodes(Map& map) {
    while (count_ != nodes_.size() && !map.empty())
      nodes_[count_++] = map.extract(map.begin());
    map.clear();
  }

  typename Map::mapped_type& insert(Map& map, std::string_view key) {
    if (count_ == 0) return map.try_emplace(std::string(key)).first->second;
    auto node = std::move(nodes_[--count_]);
    node.key().assign(key);
    return map.insert(std::move(node)).position->second;
  }

 private:
  std::array<typename Map::node_type, 16> nodes_;
  std::size_t count_ = 0;
};

template <class Map> bool read_json_map(json_reader& reader, Map& out) {
  static_assert(std::default_initializable<typename Map::mapped_type>,
                "JSON: the values of a map need a default constructor");
  json_spare_nodes<Map> spare(out);
  auto step = reader.open_members();
  for (; step == json_step::item; step = reader.next_member()) {
    json_key key;
    if (!reader.read_key(key)) return false;
    if (!read_json(reader, spare.insert(out, key.text))) return reader.within(key.raw);
  }
  return step == json_step::end;
}

template <class T> bool read_json_optional(json_reader& reader, std::optional<T>& out) {
  static_assert(std::default_initializable<T>, "JSON: the value of an optional needs a default constructor");
  if (reader.read_null()) {
    out.reset();
    return true;
  }
  if (!out) out.emplace();
  return read_json(reader, *out);
}

template <class T> bool read_json(json_reader& reader, T& out) {
  if constexpr (std::same_as<T, bool>)
    return reader.read_bool(out);
  else if constexpr (json_integer<T>)
    return reader.read_integer(out);
  else if constexpr (json_float<T>)
    return reader.read_number(out);
  else if constexpr (std::same_as<T, std::string>)
    return reader.read_text(out);
  else if constexpr (json_enum<T>)
    return read_json_enum(reader, out, boost::describe::describe_enumerators<T>{});
  else if constexpr (is_json_optional<T>)
    return read_json_optional(reader, out);
  else if constexpr (is_json_vector<T>)
    return read_json_vector(reader, out);
  else if constexpr (is_json_array<T>)
    return read_json_array(reader, out);
  else if constexpr (is_json_map<T>)
    return read_json_map(reader, out);
  else if constexpr (json_struct<T>) {
    return read_json_struct(reader, out, json_members<T>{},
                            std::make_integer_sequence<unsigned, json_read_layout<T>::count>{});
  } else
    explain_no_json_form<T>();
}

} // namespace millrace::detail
