#pragma once

#include <millrace/event.hpp>
#include <millrace/observer.hpp>
#include <millrace/service_core.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace {

class subscription_loop;

/// One run of a service on a given runtime: the start order, the stop order and the reason of the stop. `service::run`
/// and the test harness both go through it, so a test runs what production runs.
class service_run {
 public:
  service_run(std::shared_ptr<service_core> core, runtime& rt, observer* watcher = nullptr);
  ~service_run();

  /// Startup hooks, state, brokers, publishers, subscriptions, after-startup hooks. On an error everything is taken
  /// back.
  task<result<void>> start(connect_mode mode);
  /// Shutdown hooks, subscriptions, running handlers and copies within the timeout, brokers in reverse, after-shutdown
  /// hooks. Answers why the service failed, or else what the shutdown left.
  task<result<void>> shutdown();

  /// Set when the service wants to stop by itself.
  [[nodiscard]] event& stopping() noexcept { return stopping_; }
  /// Called once when the service wants to stop by itself, from any thread.
  void on_stopping(std::function<void()> notify);
  /// Why it wants to, if it does.
  [[nodiscard]] std::optional<error> failure() const;
  [[nodiscard]] health_probe health() const;
  [[nodiscard]] const service_core& core() const noexcept { return *core_; }
  [[nodiscard]] runtime& rt() const noexcept { return *runtime_; }
  /// Handlers that were still running when the last shutdown gave up.
  [[nodiscard]] std::size_t left_running() const noexcept { return left_running_; }

 private:
  task<result<void>> run_hooks(const std::vector<service_hook>& hooks, const char* kind);
  task<void> run_and_log(const std::vector<service_hook>& hooks, const char* kind);
  task<result<void>> prepare();
  task<result<void>> connect(connect_mode mode);
  [[nodiscard]] result<void> declare_subscriptions();
  task<result<void>> open_subscriptions();
  task<result<void>> finish_start();
  task<result<void>> start_all(connect_mode mode);
  task<void> stop_subscriptions();
  task<result<void>> close_brokers();
  task<void> give_up_waits();
  void fail(error why);
  void announce_stop();

  std::shared_ptr<service_core> core_;
  runtime* runtime_;
  observer* watcher_;
  std::shared_ptr<detail::health_board> board_;
  std::shared_ptr<const void> state_;
  task_group background_;
  event stopping_;
  mutable std::mutex mutex_;
  std::optional<error> failure_;
  std::function<void()> notify_;
  std::vector<std::unique_ptr<subscription_loop>> loops_;
  std::size_t left_running_ = 0;
};

} // namespace millrace
