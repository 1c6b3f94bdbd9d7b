#include <millrace/headers.hpp>

#include <algorithm>

namespace millrace {
namespace {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

} // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

header_map::entry header_map::operator[](std::size_t i) const noexcept {
  const std::string_view text = text_;
  const slot& s = slots_[i];
  return {text.substr(s.name_at, s.name_size), text.substr(s.value_at, s.value_size)};
}

std::size_t header_map::find(std::string_view name) const noexcept {
  const std::string_view text = text_;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const slot& s = slots_[i];
    if (s.name_size == name.size() && equal_ignoring_case(text.substr(s.name_at, s.name_size), name)) return i;
  }
  return npos;
}

std::optional<std::string_view> header_map::get(std::string_view name) const noexcept {
  const std::size_t i = find(name);
  if (i == npos) return std::nullopt;
  return (*this)[i].value;
}

std::uint32_t header_map::store(std::string_view text) {
  const auto at = static_cast<std::uint32_t>(text_.size());
  text_.append(text);
  return at;
}

void header_map::set(std::string_view name, std::string_view value) {
  const std::size_t i = find(name);
  if (i == npos) return add(name, value);
  slots_[i].value_at = store(value);
  slots_[i].value_size = static_cast<std::uint32_t>(value.size());
}

void header_map::add(std::string_view name, std::string_view value) {
  if (find(name) != npos) return;
  slot s{};
  s.name_at = store(name);
  s.name_size = static_cast<std::uint32_t>(name.size());
  s.value_at = store(value);
  s.value_size = static_cast<std::uint32_t>(value.size());
  slots_.push_back(s);
}

bool header_map::erase(std::string_view name) noexcept {
  const std::size_t i = find(name);
  if (i == npos) return false;
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(i));
  return true;
}

void header_map::clear() noexcept {
  text_.clear();
  slots_.clear();
}

void header_map::merge(const header_map& other) {
  for (const auto& [name, value] : other)
    set(name, value);
}

} // namespace millrace
