#pragma once

#include <millrace/log.hpp>
#include <millrace/millrace.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core_test {

using namespace millrace;
using namespace std::chrono_literals;
using millrace::testing::virtual_runtime; // `testing` alone may be that of gtest

/// Collects what Millrace logs while it lives.
class log_capture {
 public:
  log_capture() {
    set_log_sink([this](log_level level, std::string_view line) { // called one at a time
      const std::scoped_lock lock(mutex_);
      lines_.emplace_back(level, line);
    });
  }
  ~log_capture() { set_log_sink({}); }
  log_capture(const log_capture&) = delete;
  log_capture& operator=(const log_capture&) = delete;

  /// Lines of this level that contain every one of `parts`.
  template <class... Part> [[nodiscard]] std::size_t count(log_level level, Part... parts) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(lines_, [&](const auto& line) {
      return line.first == level && (line.second.contains(std::string_view(parts)) && ...);
    }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<log_level, std::string>> lines_;
};

/// What an observer was told of one handler call.
struct seen_call {
  std::string payload;
  std::uint32_t attempt = 0;
  handled_event::failure failed{};
  std::optional<settlement_kind> settled;
  std::string text;
};

class recorder final : public observer {
 public:
  void handled(const handled_event& e) noexcept override {
    seen_call call;
    call.payload = as_text(e.payload);
    call.attempt = e.attempt;
    call.failed = e.failed;
    if (e.settled) call.settled = e.settled->kind;
    call.text = e.failure_text;
    calls.push_back(std::move(call));
  }
  void published(const published_event& e) noexcept override {
    published_to.emplace_back(std::string(e.destination), std::string(as_text(e.payload)));
  }

  std::vector<seen_call> calls;
  std::vector<std::pair<std::string, std::string>> published_to;
};

/// One service on the virtual clock.
class rig {
 public:
  virtual_runtime rt;
  log_capture log;
  recorder seen;
  service<> app{service_info{"test"}};
  bool watched = false;

  result<void> start() {
    run_.emplace(app.core(), rt, watched ? &seen : nullptr);
    return rt.drive(run_->start(connect_mode::in_process));
  }
  result<void> stop() { return rt.drive(run_->shutdown()); }
  void settle() { ASSERT_TRUE(rt.run().has_value()); }
  void advance(duration d) { ASSERT_TRUE(rt.advance(d).has_value()); }
  service_run& run() { return *run_; }
  void destroy() { run_.reset(); }

 private:
  std::optional<service_run> run_;
};

inline std::string message_of(const result<void>& r) { return r ? "no error" : r.error().message(); }

} // namespace core_test
