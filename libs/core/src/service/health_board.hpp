#pragma once

#include <millrace/health.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::detail {

/// Where a running service writes its health. Thread-safe; the summary is read without a lock.
class health_board {
 public:
  void set_state(service_state state, std::string problem = {});
  [[nodiscard]] service_state state() const noexcept { return state_.load(); }
  /// A slot for one subscription, absent until it is set active.
  [[nodiscard]] std::size_t add(std::string name);
  void set_active(std::size_t slot, bool active, std::string why);
  void add_dropped(std::size_t slot, std::uint64_t count);
  void add_refused(std::size_t slot, std::uint64_t count);

  [[nodiscard]] health_report read() const;
  [[nodiscard]] bool healthy() const noexcept {
    return state_.load() == service_state::running && active_.load() == started_.load();
  }

 private:
  struct subscription {
    std::string name;
    bool active = false;
    std::string why;
    std::uint64_t dropped = 0;
    std::uint64_t refused = 0;
  };
  std::atomic<service_state> state_ = service_state::starting;
  std::atomic<std::size_t> started_ = 0;
  std::atomic<std::size_t> active_ = 0;
  mutable std::mutex mutex_;
  std::vector<subscription> subscriptions_;
  std::string problem_;
};

} // namespace millrace::detail
