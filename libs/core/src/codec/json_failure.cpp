#include <millrace/codec/detail/json_reader.hpp>

namespace millrace::detail {
namespace {

const char* describe_value(char first) noexcept {
  switch (first) {
  case 'n':
    return "null";
  case 't':
  case 'f':
    return "a boolean";
  case '"':
    return "a string";
  case '[':
    return "an array";
  case '{':
    return "an object";
  case '-':
    return "a number";
  default:
    return first >= '0' && first <= '9' ? "a number" : "an unexpected byte";
  }
}

} // namespace

bool json_reader::fail(const char* what) { return fail_at(pos_, what); }

bool json_reader::fail_at(const char* where, const char* what) {
  where_ = where;
  what_ = what;
  text_.clear();
  return false;
}

bool json_reader::missing(const char* what) {
  if (peek() != '\0' || pos_ != end_) return fail(what);
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  return fail(std::all_of(begin_, end_, is_space) ? "empty input" : "truncated input");
}

bool json_reader::wrong_type(const char* expected) {
  const char first = peek();
  const std::string_view left(pos_, end_); // a cut null may have been meant for an optional
  if (std::string_view("null").starts_with(left) && left.size() < 4) pos_ = end_;
  if (pos_ == end_) return missing(expected);
  found_ = describe_value(first);
  return fail(expected);
}

bool json_reader::within(std::string_view member) {
  prepend_json_member(text_, member);
  return false;
}

bool json_reader::within(std::size_t index) {
  prepend_json_index(text_, index);
  return false;
}

error json_reader::failure() const {
  std::string what = what_;
  if (found_ != nullptr) what = "expected " + what + ", found " + found_;
  what += " (byte " + std::to_string(where_ - begin_) + ")";
  return {errc::decode, describe_json_failure(text_, what)};
}

} // namespace millrace::detail
