#pragma once

#include <millrace/runtime.hpp>
#include <millrace/service_core.hpp>
#include <millrace/task.hpp>
#include <millrace/testing/options.hpp>
#include <millrace/testing/record.hpp>

#include <functional>
#include <memory>
#include <string>

namespace millrace::testing {

/// How a harness makes time pass: virtually, or really.
class driver {
 public:
  driver() = default;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;
  virtual ~driver() = default;

  [[nodiscard]] virtual connect_mode mode() const noexcept = 0;
  [[nodiscard]] virtual runtime& rt() noexcept = 0;
  /// Runs `work` to its end.
  virtual void finish(task<void> work) = 0;
  /// Runs the reaction to its end, where that can be computed.
  virtual void react() = 0;
  /// `react`, because the test asks for it.
  virtual void settle() = 0;
  virtual void advance(duration d) = 0;
  /// Until `done`; false: it cannot become true any more, or the bound is over. `why` tells which.
  virtual bool wait(const std::function<bool()>& done, std::string& why) = 0;
  /// Ends the threads. False: one is still in user code.
  virtual bool stop() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<driver> make_driver(in_process options, std::shared_ptr<recorder> record);
[[nodiscard]] std::unique_ptr<driver> make_driver(live options, std::shared_ptr<recorder> record);

} // namespace millrace::testing
