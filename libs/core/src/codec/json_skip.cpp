#include <millrace/codec/detail/json_reader.hpp>

namespace millrace::detail {

bool json_reader::skip_literal(std::string_view word) {
  const auto left = std::string_view(pos_, static_cast<std::size_t>(end_ - pos_));
  if (!left.starts_with(word)) {
    return fail(word.starts_with(left) ? "truncated input" : "expected null, true or false");
  }
  pos_ += word.size();
  return true;
}

bool json_reader::skip_value() {
  const char first = peek();
  switch (first) {
  case '"':
    return skip_text();
  case '{':
    return skip_object();
  case '[':
    return skip_array();
  case 't':
    return skip_literal("true");
  case 'f':
    return skip_literal("false");
  case 'n':
    return skip_literal("null");
  default:
    break;
  }
  if (first != '-' && (first < '0' || first > '9')) return wrong_type("a value");
  const char* const end = number_end(pos_);
  if (end == nullptr) return false;
  pos_ = end;
  return true;
}

bool json_reader::skip_array() {
  std::size_t index = 0;
  auto step = open_array();
  for (; step == json_step::item; step = next_element(), ++index) {
    if (!skip_value()) return within(index);
  }
  return step == json_step::end;
}

bool json_reader::skip_object() {
  json_key key;
  auto step = open_members();
  for (; step == json_step::item; step = next_member()) {
    if (!read_key(key)) return false;
    if (!skip_value()) return within(key.raw);
  }
  return step == json_step::end;
}

} // namespace millrace::detail
