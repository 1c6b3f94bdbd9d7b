#include <millrace/msgpack/detail/reader.hpp>

#include "head.hpp"

#include <millrace/codec/detail/utf8.hpp>

#include <algorithm>
#include <cmath>

namespace millrace::detail {

bool msgpack_reader::peek() {
  std::size_t size = 0;
  switch (parse_head(document_.subspan(at_), head_, size)) {
  case msgpack_status::complete:
    after_ = at_ + size;
    return true;
  case msgpack_status::truncated:
    at_ = document_.size();
    return fail(document_.empty() ? "empty input" : "truncated input");
  case msgpack_status::malformed:
    break;
  }
  return fail("malformed");
}

bool msgpack_reader::take_nil() noexcept {
  const bool found = at_ != document_.size() && document_[at_] == std::byte{0xc0};
  if (found) ++at_;
  return found;
}

bool msgpack_reader::read_bool(bool& out) {
  if (!peek()) return false;
  if (head_.kind != msgpack_kind::boolean) return wrong_type("a boolean");
  out = head_.value != 0;
  take();
  return true;
}

bool msgpack_reader::read_integer_bits(std::uint64_t& bits, std::uint64_t most, bool is_signed) {
  if (!peek()) return false;
  const bool negative = head_.kind == msgpack_kind::negative_integer;
  if (!negative && head_.kind != msgpack_kind::unsigned_integer) return wrong_type("an integer");
  if (head_.value > most || (negative && !is_signed)) return fail("number out of range");
  bits = negative ? ~head_.value : head_.value;
  take();
  return true;
}

bool msgpack_reader::read_number(double& out) {
  if (!peek()) return false;
  if (head_.kind == msgpack_kind::number)
    out = head_.number;
  else if (head_.kind == msgpack_kind::unsigned_integer)
    out = static_cast<double>(head_.value);
  else if (head_.kind == msgpack_kind::negative_integer)
    out = -1.0 - static_cast<double>(head_.value);
  else
    return wrong_type("a number");
  take();
  return true;
}

bool msgpack_reader::read_number(float& out) {
  const std::size_t start = at_;
  double value = 0;
  if (!read_number(value)) return false;
  if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    at_ = start;
    return fail("number out of range");
  }
  out = static_cast<float>(value);
  return true;
}

bool msgpack_reader::read_text(std::string_view& out) {
  if (!peek()) return false;
  if (head_.kind != msgpack_kind::text) return wrong_type("a text");
  if (!is_utf8(head_.text)) return fail("invalid UTF-8");
  out = head_.text;
  take();
  return true;
}

bool msgpack_reader::read_text(std::string& out) {
  std::string_view text;
  if (!read_text(text)) return false;
  out.assign(text);
  return true;
}

bool msgpack_reader::read_enumerator(std::span<const std::string_view> names, std::size_t& index) {
  const std::size_t start = at_;
  std::string_view name;
  if (!read_text(name)) return false;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    at_ = start;
    return fail("unknown enumerator");
  }
  index = static_cast<std::size_t>(found - names.begin());
  return true;
}

} // namespace millrace::detail
