#include "protocol/wire_format.hpp"

namespace millrace::pubsub::detail {

void put_varint(std::string& to, std::uint64_t value) {
  char buffer[10];
  std::size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    buffer[n++] = static_cast<char>(value | 0x80);
  buffer[n++] = static_cast<char>(value);
  to.append(buffer, n);
}

void put_bytes(std::string& to, std::uint32_t field, std::string_view content) {
  put_varint(to, (field << 3U) | static_cast<std::uint32_t>(wire_type::bytes));
  put_varint(to, content.size());
  to.append(content);
}

void put_number(std::string& to, std::uint32_t field, std::uint64_t value) {
  if (value == 0) return;
  put_varint(to, field << 3U);
  put_varint(to, value);
}

bool wire_reader::fail() noexcept {
  failed_ = true;
  at_ = end_;
  return false;
}

bool wire_reader::read_varint(std::uint64_t& value) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) return fail();
    const auto byte = static_cast<unsigned char>(*at_++);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool wire_reader::skip(std::size_t n, wire_field& field) noexcept {
  if (static_cast<std::size_t>(end_ - at_) < n) return fail();
  field.content = {at_, n};
  at_ += n;
  return true;
}

bool wire_reader::next(wire_field& field) noexcept {
  if (at_ == end_) return false;
  std::uint64_t tag = 0;
  if (!read_varint(tag)) return false;
  field.number = static_cast<std::uint32_t>(tag >> 3U);
  field.type = static_cast<wire_type>(tag & 7U);
  field.content = {};
  switch (field.type) {
  case wire_type::varint:
    return read_varint(field.value);
  case wire_type::fixed64:
    return skip(8, field);
  case wire_type::bytes: {
    std::uint64_t length = 0;
    if (!read_varint(length)) return false;
    return skip(length, field);
  }
  case wire_type::fixed32:
    return skip(4, field);
  }
  return fail();
}

} // namespace millrace::pubsub::detail
