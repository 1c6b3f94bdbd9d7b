#include "protocol/header_block.hpp"

#include <algorithm>

namespace millrace::nats::detail {
namespace {

constexpr std::string_view version = "NATS/1.0";

std::string_view trim(std::string_view text) noexcept {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && blank(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string_view take_line(std::string_view& rest) noexcept {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 2);
  return line;
}

/// Calls `each(name, value)` until it answers false.
template <class Each> void for_each_header(std::string_view block, Each each) {
  if (!block.starts_with(version)) return;
  const std::string_view status = trim(take_line(block).substr(version.size()));
  if (!status.empty()) {
    if (!each("Status", status.substr(0, 3))) return;
    const std::string_view description = trim(status.substr(std::min<std::size_t>(3, status.size())));
    if (!description.empty() && !each("Description", description)) return;
  }
  while (!block.empty()) {
    const std::string_view line = take_line(block);
    const std::size_t colon = line.find(':');
    if (line.empty() || colon == 0 || colon == std::string_view::npos) continue;
    if (!each(line.substr(0, colon), trim(line.substr(colon + 1)))) return;
  }
}

} // namespace

void parse_header_block(std::string_view block, header_map& into) {
  for_each_header(block, [&](std::string_view name, std::string_view value) {
    into.add(name, value);
    return true;
  });
}

std::string_view find_in_header_block(std::string_view block, std::string_view wanted) noexcept {
  std::string_view found;
  for_each_header(block, [&](std::string_view name, std::string_view value) {
    if (!equal_ignoring_case(name, wanted)) return true;
    found = value;
    return false;
  });
  return found;
}

} // namespace millrace::nats::detail
