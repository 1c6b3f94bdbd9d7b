#include "transport/in_process/patterns.hpp"

namespace millrace::nats::detail::in_process {
namespace {

std::string_view take_token(std::string_view& rest) noexcept {
  const std::size_t at = rest.find('.');
  const std::string_view token = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return token;
}

} // namespace

bool covers(std::string_view wide, std::string_view narrow) noexcept {
  while (!wide.empty() && !narrow.empty()) {
    const std::string_view w = take_token(wide);
    if (w == ">") return true;
    const std::string_view n = take_token(narrow);
    if (n == ">" || (w != "*" && w != n)) return false;
  }
  return wide.empty() && narrow.empty();
}

bool overlap(std::string_view a, std::string_view b) noexcept {
  while (!a.empty() && !b.empty()) {
    const std::string_view x = take_token(a);
    const std::string_view y = take_token(b);
    if (x == ">" || y == ">") return true;
    if (x != "*" && y != "*" && x != y) return false;
  }
  return a.empty() && b.empty();
}

} // namespace millrace::nats::detail::in_process
