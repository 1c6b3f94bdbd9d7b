#include "transport/in_process/binding_match.hpp"

#include "protocol/table.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail::in_process {
namespace {

/// The first word; `rest` is what follows its dot, and `last` that there is none.
std::string_view first_word(std::string_view text, std::string_view& rest, bool& last) noexcept {
  const std::size_t dot = text.find('.');
  last = dot == std::string_view::npos;
  rest = last ? std::string_view() : text.substr(dot + 1);
  return text.substr(0, dot);
}

struct words {
  std::string_view left;
  bool over;
};

bool matches(words pattern, words key) noexcept {
  if (pattern.over) return key.over;
  words after{};
  const std::string_view word = first_word(pattern.left, after.left, after.over);
  if (word == "#") {
    if (matches(after, key)) return true;
    if (key.over) return false;
    words shorter{};
    (void)first_word(key.left, shorter.left, shorter.over);
    return matches(pattern, shorter);
  }
  if (key.over) return false;
  words next{};
  const std::string_view heard = first_word(key.left, next.left, next.over);
  return (word == "*" || word == heard) && matches(after, next);
}

/// A binding's field without a value asks for presence only.
bool field_matches(const field_value& wanted, const field_value& has) noexcept {
  if (wanted.tag == 'V') return true;
  return wanted.what == has.what && wanted.text == has.text && wanted.integer == has.integer && wanted.real == has.real;
}

} // namespace

bool topic_matches(std::string_view pattern, std::string_view key) noexcept {
  return matches({pattern, pattern.empty()}, {key, key.empty()});
}

bool headers_match(std::string_view binding, std::string_view headers) noexcept {
  const auto mode = find_field(binding, "x-match");
  const bool with_x = mode && mode->text.ends_with("-with-x");
  bool all = true;
  bool any = false;
  for_each_field(binding, [&](std::string_view name, const field_value& wanted) {
    if (name == "x-match" || (!with_x && name.starts_with("x-"))) return true;
    const auto has = find_field(headers, name);
    const bool fits = has && field_matches(wanted, *has);
    all = all && fits;
    any = any || fits;
    return true;
  });
  return mode && mode->text.starts_with("any") ? any : all;
}

} // namespace millrace::rabbitmq::detail::in_process
