#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace millrace::rabbitmq {

/// One typed value of an argument table.
using argument_value = std::variant<bool, std::int64_t, double, std::string, std::chrono::sys_seconds>;

/// The arguments of a queue, exchange, binding or consumer, in order. Setting a name again overwrites its value.
class arguments {
 public:
  arguments() = default;
  arguments& set(std::string name, std::string value) & { return put(std::move(name), std::move(value)); }
  arguments& set(std::string name, const char* value) & { return put(std::move(name), std::string(value)); }
  arguments& set(std::string name, bool value) & { return put(std::move(name), value); }
  arguments& set(std::string name, double value) & { return put(std::move(name), value); }
  arguments& set(std::string name, std::int64_t value) & { return put(std::move(name), value); }
  arguments& set(std::string name, int value) & { return put(std::move(name), std::int64_t{value}); }
  arguments& set(std::string name, std::chrono::sys_seconds value) & { return put(std::move(name), value); }
  template <class T> arguments&& set(std::string name, T value) && {
    return std::move(set(std::move(name), std::move(value)));
  }

  using entry = std::pair<std::string, argument_value>;
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  [[nodiscard]] const argument_value* find(std::string_view name) const noexcept {
    for (const entry& e : entries_)
      if (e.first == name) return &e.second;
    return nullptr;
  }

 private:
  arguments& put(std::string name, argument_value value) {
    for (entry& e : entries_)
      if (e.first == name) return e.second = std::move(value), *this;
    entries_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  std::vector<entry> entries_;
};

} // namespace millrace::rabbitmq
