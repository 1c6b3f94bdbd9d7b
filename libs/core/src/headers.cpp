#include <millrace/headers.hpp>

#include <algorithm>
#include <utility>

namespace millrace {
namespace {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

} // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a == b) return true; // most names are written one way
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
  if (i == npos) return append(name, value);
  const auto size = static_cast<std::uint32_t>(value.size());
  const std::uint32_t was = std::exchange(slots_[i].value_size, size);
  text_.replace(slots_[i].value_at, was, value);
  shift(i + 1, size - was);
}

void header_map::add(std::string_view name, std::string_view value) {
  if (find(name) == npos) append(name, value);
}

void header_map::append(std::string_view name, std::string_view value) {
  slot s{};
  s.name_at = store(name);
  s.name_size = static_cast<std::uint32_t>(name.size());
  s.value_at = store(value);
  s.value_size = static_cast<std::uint32_t>(value.size());
  slots_.push_back(s);
}

/// The texts of the slots from `i` on, which follow each other, moved by so many bytes, modulo 2^32.
void header_map::shift(std::size_t i, std::uint32_t by) noexcept {
  for (; i < slots_.size(); ++i) {
    slots_[i].name_at += by;
    slots_[i].value_at += by;
  }
}

bool header_map::erase(std::string_view name) noexcept {
  const std::size_t i = find(name);
  if (i == npos) return false;
  const slot gone = slots_[i];
  const std::uint32_t size = gone.name_size + gone.value_size; // a value follows its name
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(i));
  text_.erase(gone.name_at, size);
  shift(i, 0U - size);
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
