#include "protocol/names.hpp"

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

constexpr std::string_view projects = "projects/";

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) noexcept { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_of_id(char c) noexcept {
  return is_letter(c) || is_digit(c) || std::string_view("-_.~+%").find(c) != std::string_view::npos;
}
bool is_of_project(char c) noexcept { return is_lower(c) || is_digit(c) || c == '-'; }

std::string_view collection_of(resource kind) noexcept {
  return kind == resource::topic ? "/topics/" : "/subscriptions/";
}

result<std::string> refuse(resource kind, std::string_view name, std::string_view why) {
  return fail(millrace::errc::invalid_options,
              std::string(word_of(kind)) + " '" + std::string(name) + "': " + std::string(why));
}

} // namespace

std::string_view word_of(resource kind) noexcept { return kind == resource::topic ? "topic" : "subscription"; }

std::string_view fault_of_project(std::string_view project) noexcept {
  if (const auto colon = project.rfind(':'); colon != std::string_view::npos) {
    if (colon == 0) return "the domain before ':' is empty";
    project.remove_prefix(colon + 1);
  }
  if (project.size() < 6 || project.size() > 30) return "a project id has 6 to 30 characters";
  if (!is_lower(project.front())) return "a project id starts with a lower-case letter";
  if (project.back() == '-') return "a project id does not end in a hyphen";
  if (!std::ranges::all_of(project, is_of_project)) return "a project id has lower-case letters, digits and hyphens";
  return {};
}

std::string_view fault_of_id(std::string_view id) noexcept {
  if (id.empty()) return "the name is empty";
  if (id.size() < 3 || id.size() > 255) return "an id has 3 to 255 characters";
  if (!is_letter(id.front())) return "an id starts with a letter";
  if (id.starts_with("goog")) return "an id does not start with \"goog\"";
  if (!std::ranges::all_of(id, is_of_id)) return "an id has letters, digits and -_.~+%";
  return {};
}

result<std::string> full_name(resource kind, std::string_view project, std::string_view name) {
  const std::string_view collection = collection_of(kind);
  std::string_view id = name;
  if (name.starts_with(projects)) {
    const auto end = name.find('/', projects.size());
    const auto at = end == std::string_view::npos ? std::string_view() : name.substr(end);
    if (!at.starts_with(collection))
      return refuse(kind, name, "a full name is projects/<project>" + std::string(collection) + "<id>");
    project = name.substr(projects.size(), end - projects.size());
    id = at.substr(collection.size());
  }
  if (const auto fault = fault_of_id(id); !fault.empty()) return refuse(kind, name, fault);
  if (const auto fault = fault_of_project(project); !fault.empty())
    return refuse(kind, name, "project '" + std::string(project) + "': " + std::string(fault));
  std::string full(projects);
  return full.append(project).append(collection).append(id);
}

std::string host_of(std::string_view endpoint) {
  if (const auto scheme = endpoint.find("://"); scheme != std::string_view::npos) endpoint.remove_prefix(scheme + 3);
  endpoint = endpoint.substr(0, endpoint.find_first_of("/?#"));
  if (const auto at = endpoint.rfind('@'); at != std::string_view::npos) endpoint.remove_prefix(at + 1);
  return std::string(endpoint);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || std::string_view("-_.~").find(c) != std::string_view::npos) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.push_back('%');
    encoded.push_back(digits[byte >> 4U]);
    encoded.push_back(digits[byte & 15U]);
  }
  return encoded;
}

} // namespace millrace::pubsub::detail
