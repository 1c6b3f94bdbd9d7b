#include <millrace/codec/detail/json_path.hpp>

#include "json_scan.hpp"

namespace millrace::detail {
namespace {

constexpr std::size_t longest_name = 64;

/// Names of ignored members and keys of maps come from the peer: short and printable in an error.
std::string printable(std::string_view name) {
  std::string text;
  for (const char *at = name.data(), *end = at + name.size(); at != end;) {
    const auto size = utf8_sequence(at, end);
    if (text.size() + size > longest_name) return text + "...";
    if (size == 0 || static_cast<unsigned char>(*at) < 0x20)
      text += '?';
    else
      text.append(at, size);
    at += size == 0 ? 1 : size;
  }
  return text;
}

void prepend(std::string& path, std::string step) {
  if (!path.empty() && path.front() != '[') step += '.';
  path.insert(0, step);
}

} // namespace

void prepend_json_member(std::string& path, std::string_view member) { prepend(path, printable(member)); }

void prepend_json_index(std::string& path, std::size_t index) { prepend(path, "[" + std::to_string(index) + "]"); }

std::string describe_json_failure(std::string_view path, std::string_view what) {
  std::string text(path);
  if (!text.empty()) text += ": ";
  return text += what;
}

} // namespace millrace::detail
