#include "protocol/subject.hpp"

#include <array>

namespace millrace::nats::detail {
namespace {

constexpr unsigned char ordinary = 0, dot = 1, star = 2, chevron = 3, space = 4;

constexpr std::array<unsigned char, 256> classes = [] {
  std::array<unsigned char, 256> table{};
  for (std::size_t c = 0; c <= 0x20; ++c)
    table[c] = space; // control characters end or corrupt a protocol line
  table[0x7f] = space;
  table['.'] = dot;
  table['*'] = star;
  table['>'] = chevron;
  return table;
}();

unsigned char class_of(char c) noexcept { return classes[static_cast<unsigned char>(c)]; }

subject_fault check(std::string_view text, bool patterns) noexcept {
  if (text.empty()) return subject_fault::empty;
  std::size_t token = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const unsigned char c = i == text.size() ? dot : class_of(text[i]);
    if (c == ordinary) [[likely]]
      continue;
    if (c == space) return subject_fault::whitespace;
    if (c != dot) continue;
    if (i == token) return subject_fault::empty_token;
    if (i == token + 1) {
      const unsigned char only = class_of(text[token]);
      if (only >= star) {
        if (!patterns) return subject_fault::wildcard;
        if (only == chevron && i != text.size()) return subject_fault::misplaced_wildcard;
      }
    }
    token = i + 1;
  }
  return subject_fault::none;
}

std::string_view next_token(std::string_view& rest) noexcept {
  const std::size_t at = rest.find('.');
  const std::string_view token = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return token;
}

} // namespace

subject_fault check_subject(std::string_view subject) noexcept { return check(subject, false); }
subject_fault check_pattern(std::string_view pattern) noexcept { return check(pattern, true); }

std::string_view describe(subject_fault fault) noexcept {
  switch (fault) {
  case subject_fault::none:
    return "valid";
  case subject_fault::empty:
    return "the subject is empty";
  case subject_fault::whitespace:
    return "the subject has whitespace";
  case subject_fault::empty_token:
    return "the subject has an empty token";
  case subject_fault::wildcard:
    return "a pattern is not an address";
  case subject_fault::misplaced_wildcard:
    return "'>' stands only at the end";
  }
  return "invalid";
}

bool has_whitespace(std::string_view text) noexcept {
  for (const char c : text)
    if (class_of(c) == space) return true;
  return false;
}

bool is_resource_name(std::string_view name) noexcept {
  return !name.empty() && !has_whitespace(name) && name.find_first_of(".*>/\\") == std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view subject) noexcept {
  while (!pattern.empty() && !subject.empty()) {
    const std::string_view wanted = next_token(pattern);
    if (wanted == ">") return true;
    const std::string_view token = next_token(subject);
    if (wanted != "*" && wanted != token) return false;
  }
  return pattern.empty() && subject.empty();
}

} // namespace millrace::nats::detail
