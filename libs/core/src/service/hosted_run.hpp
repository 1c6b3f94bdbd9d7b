#pragma once

#include <millrace/pool_runtime.hpp>
#include <millrace/service_run.hpp>

#include <memory>

namespace millrace {

/// A run of a service on threads of its own.
class hosted_run {
 public:
  hosted_run(std::shared_ptr<service_core> core, unsigned threads) : rt_(threads), run_(std::move(core), rt_) {}
  [[nodiscard]] service_run& run() noexcept { return run_; }
  [[nodiscard]] pool_runtime& rt() noexcept { return rt_; }

  /// Ends the threads and destroys the run. A handler that does not return keeps what it uses: it is left behind until
  /// the process ends.
  static void release(std::unique_ptr<hosted_run> run) noexcept;

 private:
  pool_runtime rt_;
  service_run run_;
};

} // namespace millrace
