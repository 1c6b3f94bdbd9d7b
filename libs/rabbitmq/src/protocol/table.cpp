#include "protocol/table.hpp"

#include <bit>

namespace millrace::rabbitmq::detail {
namespace {

constexpr int deepest = 32;

template <class Small> std::int64_t extend(std::uint64_t v) noexcept { return static_cast<Small>(v); }

bool check_nested(std::string_view bytes, bool named, int depth) noexcept {
  reader in(bytes);
  while (in.ok() && !in.rest().empty()) {
    if (named) (void)in.short_string();
    field_value inner;
    if (!in.ok() || !read_value(in, inner, depth + 1)) return false;
  }
  return in.ok();
}

void set_integer(field_value& value, std::int64_t n) noexcept {
  value.what = field_value::kind::integer;
  value.integer = n;
}

void set_text(field_value& value, std::string_view text) noexcept {
  value.what = field_value::kind::text;
  value.text = text;
}

void set_real(field_value& value, double v) noexcept {
  value.what = field_value::kind::real;
  value.real = v;
}

struct value_writer {
  writer& out;
  void operator()(bool flag) const {
    out.u8('t');
    out.u8(flag ? 1 : 0);
  }
  void operator()(std::int64_t n) const {
    out.u8('l');
    out.u64(static_cast<std::uint64_t>(n));
  }
  void operator()(double real) const {
    out.u8('d');
    out.u64(std::bit_cast<std::uint64_t>(real));
  }
  void operator()(const std::string& text) const {
    out.u8('S');
    out.long_string(text);
  }
  void operator()(std::chrono::sys_seconds at) const {
    out.u8('T');
    out.u64(static_cast<std::uint64_t>(at.time_since_epoch().count()));
  }
};

} // namespace

bool read_value(reader& in, field_value& value, int depth) noexcept {
  if (depth > deepest) return false;
  value.tag = static_cast<char>(in.u8());
  switch (value.tag) {
  case 't':
    value.what = field_value::kind::boolean;
    value.integer = in.u8() != 0 ? 1 : 0;
    break;
  case 'b':
    set_integer(value, extend<std::int8_t>(in.u8()));
    break;
  case 'B':
    set_integer(value, in.u8());
    break;
  case 's':
    set_integer(value, extend<std::int16_t>(in.u16()));
    break;
  case 'u':
    set_integer(value, in.u16());
    break;
  case 'I':
    set_integer(value, extend<std::int32_t>(in.u32()));
    break;
  case 'i':
    set_integer(value, in.u32());
    break;
  case 'l':
  case 'L':
  case 'T':
    set_integer(value, extend<std::int64_t>(in.u64()));
    break;
  case 'f':
    set_real(value, std::bit_cast<float>(in.u32()));
    break;
  case 'd':
    set_real(value, std::bit_cast<double>(in.u64()));
    break;
  case 'D':
    (void)in.take(5);
    break;
  case 'S':
  case 'x':
    set_text(value, in.long_string());
    break;
  case 'F':
  case 'A':
    value.text = in.long_string();
    if (!check_nested(value.text, value.tag == 'F', depth)) return false;
    break;
  case 'V':
    break;
  default:
    return false;
  }
  return in.ok();
}

std::optional<field_value> find_field(std::string_view table, std::string_view name) noexcept {
  std::optional<field_value> found;
  for_each_field(table, [&](std::string_view field, const field_value& value) {
    if (field != name) return true;
    found = value;
    return false;
  });
  return found;
}

void append_table(writer& out, const arguments& table) {
  const std::size_t at = out.begin_length();
  for (const auto& [name, value] : table) {
    out.short_string(name);
    std::visit(value_writer{out}, value);
  }
  out.end_length(at);
}

} // namespace millrace::rabbitmq::detail
