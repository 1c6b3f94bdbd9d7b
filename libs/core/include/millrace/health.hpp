#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace {

enum class service_state : std::uint8_t { starting, running, stopping, stopped, failed };

/// One reading of a service's health.
struct health_report {
  service_state state = service_state::starting;
  std::size_t subscriptions = 0; ///< started
  std::size_t active = 0;        ///< consuming now
  std::uint64_t dropped = 0;     ///< messages lost to slow consumers since the start
  std::uint64_t refused = 0;     ///< settlements that a broker took and refused later; their messages come again
  std::vector<std::string> problems;

  /// Running, and every desired consumer is present.
  [[nodiscard]] bool healthy() const noexcept { return state == service_state::running && active == subscriptions; }
};

namespace detail {
class health_board;
}

/// Reads a service's health, cheaply, from any thread; outlives the service.
class health_probe {
 public:
  explicit health_probe(std::shared_ptr<const detail::health_board> board) noexcept : board_(std::move(board)) {}
  [[nodiscard]] health_report read() const;
  /// `read().healthy()` without building the report.
  [[nodiscard]] bool healthy() const noexcept;

 private:
  std::shared_ptr<const detail::health_board> board_;
};

} // namespace millrace
