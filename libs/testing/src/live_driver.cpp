#include "driver.hpp"

#include "report.hpp"

#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/testing/errors.hpp>

#include <utility>

namespace millrace::testing {
namespace {

constexpr duration stop_bound = std::chrono::seconds(2);

/// A wait that the service's shutdown gave up is over.
task<void> pause(runtime& rt, duration d) {
  try {
    co_await sleep_for(rt, d);
  } catch (const operation_cancelled&) {
  }
}

class live_driver final : public driver {
 public:
  live_driver(live options, std::shared_ptr<recorder> record)
      : bound_(options.bound), record_(std::move(record)), rt_(options.threads) {}

  connect_mode mode() const noexcept override { return connect_mode::live; }
  runtime& rt() noexcept override { return rt_; }
  void finish(task<void> work) override { sync_wait(std::move(work)); }
  void react() override {}
  void settle() override {
    throw harness_error({errc::unsupported, "settle: on real brokers nobody can tell that a reaction is over; use "
                                            "wait_for"});
  }
  void advance(duration d) override { sync_wait(pause(rt_, d)); }
  bool wait(const std::function<bool()>& done, std::string& why) override {
    if (record_->wait(bound_, done)) return true;
    why = "waited " + show_duration(bound_);
    return false;
  }
  bool stop() noexcept override { return rt_.stop(stop_bound); }

 private:
  duration bound_;
  std::shared_ptr<recorder> record_;
  pool_runtime rt_;
};

} // namespace

std::unique_ptr<driver> make_driver(live options, std::shared_ptr<recorder> record) {
  return std::make_unique<live_driver>(options, std::move(record));
}

} // namespace millrace::testing
