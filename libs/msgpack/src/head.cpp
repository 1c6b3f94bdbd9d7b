#include "head.hpp"

#include <array>
#include <msgpuck.h>

namespace millrace::detail {
namespace {

/// What a first byte stands for, and how long the head is. msgpuck has a table of its own, in its static library, which
/// is of no use in a shared one.
struct form {
  msgpack_kind kind;
  unsigned char size;
};

constexpr form reserved{msgpack_kind::nil, 0};

constexpr std::array<form, 32> forms_from_c0{{
    {msgpack_kind::nil, 1},
    reserved,
    {msgpack_kind::boolean, 1},
    {msgpack_kind::boolean, 1},
    {msgpack_kind::bytes, 2},
    {msgpack_kind::bytes, 3},
    {msgpack_kind::bytes, 5},
    {msgpack_kind::extension, 3},
    {msgpack_kind::extension, 4},
    {msgpack_kind::extension, 6},
    {msgpack_kind::number, 5},
    {msgpack_kind::number, 9},
    {msgpack_kind::unsigned_integer, 2},
    {msgpack_kind::unsigned_integer, 3},
    {msgpack_kind::unsigned_integer, 5},
    {msgpack_kind::unsigned_integer, 9},
    {msgpack_kind::negative_integer, 2},
    {msgpack_kind::negative_integer, 3},
    {msgpack_kind::negative_integer, 5},
    {msgpack_kind::negative_integer, 9},
    {msgpack_kind::extension, 2},
    {msgpack_kind::extension, 2},
    {msgpack_kind::extension, 2},
    {msgpack_kind::extension, 2},
    {msgpack_kind::extension, 2},
    {msgpack_kind::text, 2},
    {msgpack_kind::text, 3},
    {msgpack_kind::text, 5},
    {msgpack_kind::array, 3},
    {msgpack_kind::array, 5},
    {msgpack_kind::map, 3},
    {msgpack_kind::map, 5},
}};

form form_of(unsigned char first) noexcept {
  if (first < 0x80) return {msgpack_kind::unsigned_integer, 1};
  if (first < 0x90) return {msgpack_kind::map, 1};
  if (first < 0xa0) return {msgpack_kind::array, 1};
  if (first < 0xc0) return {msgpack_kind::text, 1};
  if (first < 0xe0) return forms_from_c0[first - 0xc0U];
  return {msgpack_kind::negative_integer, 1};
}

/// msgpuck only skips extensions.
std::size_t extension_size(const char* at) noexcept {
  const unsigned char first = mp_load_u8(&at);
  switch (first) {
  case 0xc7:
    return mp_load_u8(&at);
  case 0xc8:
    return mp_load_u16(&at);
  case 0xc9:
    return mp_load_u32(&at);
  default:
    return std::size_t{1} << (first - 0xd4U);
  }
}

/// The signed forms may hold what is not negative.
void count(msgpack_head& head, std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  head.kind = value < 0 ? msgpack_kind::negative_integer : msgpack_kind::unsigned_integer;
  head.value = value < 0 ? ~bits : bits;
}

double measure(const char* at, std::size_t size) noexcept {
  return size == 5 ? static_cast<double>(mp_decode_float(&at)) : mp_decode_double(&at);
}

/// Of a complete head; answers how many bytes belong to it behind `size`.
std::size_t read_head(const char* at, std::size_t size, msgpack_head& head) noexcept {
  const char* const body = at + size;
  switch (head.kind) {
  case msgpack_kind::nil:
    return 0;
  case msgpack_kind::boolean:
    head.value = mp_decode_bool(&at) ? 1 : 0;
    return 0;
  case msgpack_kind::unsigned_integer:
    head.value = mp_decode_uint(&at);
    return 0;
  case msgpack_kind::negative_integer:
    count(head, mp_decode_int(&at));
    return 0;
  case msgpack_kind::number:
    head.number = measure(at, size);
    return 0;
  case msgpack_kind::array:
    head.value = mp_decode_array(&at);
    return 0;
  case msgpack_kind::map:
    head.value = mp_decode_map(&at);
    return 0;
  case msgpack_kind::text:
    head.text = {body, mp_decode_strl(&at)};
    return head.text.size();
  case msgpack_kind::bytes:
    return mp_decode_binl(&at);
  case msgpack_kind::extension:
    break;
  }
  return extension_size(at);
}

} // namespace

msgpack_status parse_head(bytes_view bytes, msgpack_head& head, std::size_t& size) noexcept {
  if (bytes.empty()) return msgpack_status::truncated;
  const auto [kind, head_size] = form_of(static_cast<unsigned char>(bytes[0]));
  if (head_size == 0) return msgpack_status::malformed;
  if (bytes.size() < head_size) return msgpack_status::truncated;
  head.kind = kind;
  const auto body_size = read_head(reinterpret_cast<const char*>(bytes.data()), head_size, head);
  if (bytes.size() - head_size < body_size) return msgpack_status::truncated;
  size = head_size + body_size;
  return msgpack_status::complete;
}

} // namespace millrace::detail
