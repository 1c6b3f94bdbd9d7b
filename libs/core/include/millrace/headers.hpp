#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// Message headers: text names and values in arrival order. Names compare without case (ASCII); a name stands once, the
/// first value of a repeated inbound header wins. Flat storage: a reused map allocates nothing.
class header_map {
 public:
  struct entry {
    std::string_view name;
    std::string_view value;
  };

  /// The value of `name`, valid until the map changes.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) != npos; }
  /// Adds or replaces.
  void set(std::string_view name, std::string_view value);
  /// Adds unless the name is there.
  void add(std::string_view name, std::string_view value);
  bool erase(std::string_view name) noexcept;
  void clear() noexcept;
  /// Sets every header of `other` here.
  void merge(const header_map& other);

  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
  [[nodiscard]] bool empty() const noexcept { return slots_.empty(); }
  [[nodiscard]] entry operator[](std::size_t i) const noexcept;

  class iterator {
   public:
    iterator(const header_map* map, std::size_t i) noexcept : map_(map), i_(i) {}
    entry operator*() const noexcept { return (*map_)[i_]; }
    iterator& operator++() noexcept {
      ++i_;
      return *this;
    }
    bool operator==(const iterator&) const noexcept = default;

   private:
    const header_map* map_;
    std::size_t i_;
  };
  [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
  [[nodiscard]] iterator end() const noexcept { return {this, size()}; }

 private:
  struct slot {
    std::uint32_t name_at, name_size, value_at, value_size;
  };
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  [[nodiscard]] std::size_t find(std::string_view name) const noexcept;
  std::uint32_t store(std::string_view text);
  void append(std::string_view name, std::string_view value);
  void shift(std::size_t i, std::uint32_t by) noexcept;

  std::string text_;
  std::vector<slot> slots_;
};

/// ASCII comparison without case, as header names compare.
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

} // namespace millrace
