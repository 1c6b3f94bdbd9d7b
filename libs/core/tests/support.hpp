#pragma once

#include "support/log_capture.hpp"

#include <millrace/millrace.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace core_test {

using namespace millrace;
using namespace std::chrono_literals;
using millrace::test_support::log_capture;
using millrace::testing::virtual_runtime; // `testing` alone may be that of gtest

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
