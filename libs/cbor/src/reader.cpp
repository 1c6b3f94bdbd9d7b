#include <millrace/cbor/detail/reader.hpp>

#include "head.hpp"

#include <millrace/codec/detail/utf8.hpp>

#include <algorithm>
#include <cmath>

namespace millrace::detail {

bool cbor_reader::decode_head(std::size_t at) {
  std::size_t size = 0;
  switch (parse_head(document_.subspan(at), head_, size)) {
  case head_status::complete:
    after_ = at + size;
    return true;
  case head_status::truncated:
    at_ = document_.size();
    return fail(document_.empty() ? "empty input" : "truncated input");
  case head_status::malformed:
    break;
  }
  at_ = at;
  return fail("malformed");
}

bool cbor_reader::peek() {
  if (peeked_) return true;
  if (!decode_head(at_)) return false;
  if (head_.kind == cbor_kind::tag) {
    do {
      if (!decode_head(after_)) return false;
    } while (head_.kind == cbor_kind::tag);
    if (head_.kind == cbor_kind::end_mark) return fail("a tag without a value");
  }
  peeked_ = true;
  return true;
}

bool cbor_reader::read_null(bool& found) {
  if (!peek()) return false;
  found = head_.kind == cbor_kind::null || head_.kind == cbor_kind::undefined;
  if (found) take();
  return true;
}

bool cbor_reader::read_bool(bool& out) {
  if (!peek()) return false;
  if (head_.kind != cbor_kind::boolean) return wrong_type("a boolean");
  out = head_.value != 0;
  take();
  return true;
}

bool cbor_reader::read_integer_bits(std::uint64_t& bits, std::uint64_t most, bool is_signed) {
  if (!peek()) return false;
  const bool negative = head_.kind == cbor_kind::negative_integer;
  if (!negative && head_.kind != cbor_kind::unsigned_integer) return wrong_type("an integer");
  if (head_.value > most || (negative && !is_signed)) return fail("number out of range");
  bits = negative ? ~head_.value : head_.value;
  take();
  return true;
}

bool cbor_reader::read_number(double& out) {
  if (!peek()) return false;
  if (head_.kind == cbor_kind::number)
    out = head_.number;
  else if (head_.kind == cbor_kind::unsigned_integer)
    out = static_cast<double>(head_.value);
  else if (head_.kind == cbor_kind::negative_integer)
    out = -1.0 - static_cast<double>(head_.value);
  else
    return wrong_type("a number");
  take();
  return true;
}

bool cbor_reader::read_number(float& out) {
  const std::size_t start = at_;
  double value;
  if (!read_number(value)) return false;
  if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    at_ = start;
    return fail("number out of range");
  }
  out = static_cast<float>(value);
  return true;
}

bool cbor_reader::read_chunks(std::string& out) {
  for (out.clear();; out.append(head_.text)) {
    if (!decode_head(at_)) return false;
    if (head_.kind != cbor_kind::end_mark && head_.kind != cbor_kind::text) return wrong_type("a piece of text");
    if (head_.kind == cbor_kind::text && !is_utf8(head_.text)) return fail("invalid UTF-8");
    take();
    if (head_.kind == cbor_kind::end_mark) return true;
  }
}

bool cbor_reader::read_text(std::string& out) {
  if (!peek()) return false;
  if (head_.kind == cbor_kind::text_chunks) return take(), read_chunks(out);
  if (head_.kind != cbor_kind::text) return wrong_type("a text");
  if (!is_utf8(head_.text)) return fail("invalid UTF-8");
  out.assign(head_.text);
  take();
  return true;
}

bool cbor_reader::read_text(cbor_text& out) {
  if (!peek()) return false;
  if (head_.kind != cbor_kind::text) {
    if (!read_text(out.chunks)) return false;
    out.text = out.chunks;
    return true;
  }
  if (!is_utf8(head_.text)) return fail("invalid UTF-8");
  out.text = head_.text;
  take();
  return true;
}

bool cbor_reader::read_enumerator(std::span<const std::string_view> names, std::size_t& index) {
  const std::size_t start = at_;
  cbor_text name;
  if (!read_text(name)) return false;
  const auto found = std::ranges::find(names, name.text);
  if (found == names.end()) {
    at_ = start;
    return fail("unknown enumerator");
  }
  index = static_cast<std::size_t>(found - names.begin());
  return true;
}

} // namespace millrace::detail
