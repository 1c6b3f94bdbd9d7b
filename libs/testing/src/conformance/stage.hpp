#pragma once

#include "failure.hpp"
#include "port_publish.hpp"

#include <millrace/event.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/conformance/broker_kit.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace millrace::testing::conformance {

/// How long a check waits for what has to come.
inline constexpr duration patience = std::chrono::seconds(10);

/// Where one check plays: the runtime, the connections, receivers and services that it opened, and its names. Whatever
/// a check leaves open or running, `clear` ends.
class stage {
 public:
  stage(kit_ptr kit, runtime& rt) : kit_(std::move(kit)), runtime_(&rt), background_(rt) {}
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  [[nodiscard]] const broker_kit& kit() const noexcept { return *kit_; }
  [[nodiscard]] const capabilities& can() const noexcept { return kit_->can(); }
  [[nodiscard]] runtime& rt() const noexcept { return *runtime_; }
  [[nodiscard]] bool live() const noexcept { return kit_->mode() == run_mode::live; }
  [[nodiscard]] connect_mode how() const noexcept { return live() ? connect_mode::live : connect_mode::in_process; }

  /// A name that nobody used before, prepared.
  [[nodiscard]] std::string fresh();
  /// A name that nobody used before, with nothing behind it.
  [[nodiscard]] static std::string unused();

  task<connection*> connect();
  task<receiver*> open(connection& on, std::string name);
  task<receiver*> open_at(connection& on, std::string name, std::uint64_t position);
  task<void> close(receiver& r);
  /// Fails if it takes more than 10 s.
  task<void> shutdown(connection& c);
  [[nodiscard]] static std::shared_ptr<publish_port> publisher(connection& on);

  /// Publishes to what the source of `name` reads, and fails if that fails. `Port`: `publish_port` or
  /// `transaction_port`.
  template <class Port>
  task<void> publish(Port& to, std::string name, std::string payload, const header_map* headers = nullptr) {
    const std::string destination = kit().destination(name);
    const outgoing message{destination, as_bytes(payload), headers};
    port_publish publishing(rt(), to, message);
    auto sent = co_await publishing;
    value_of(std::move(sent), "publish to '" + destination + "'");
  }
  task<delivery> next(receiver& from);
  /// Fails if something arrives.
  task<void> nothing(receiver& from, std::string what);

  /// Mounts the kit's broker on a service; see `start`.
  [[nodiscard]] mounted& mount(service<>& on);
  task<result<service_run*>> try_start(const service<>& made);
  task<service_run*> start(const service<>& made);

  /// Runs `work` on a thread of its own, which blocks in it, and continues here when it ended.
  template <class T> task<T> on_a_thread(task<T> work) {
    std::optional<T> answer;
    std::exception_ptr thrown;
    event over(rt());
    rt().external_begin();
    std::thread worker([&] {
      try {
        answer.emplace(sync_wait(std::move(work)));
      } catch (...) {
        thrown = std::current_exception();
      }
      over.set();
      rt().external_end();
    });
    co_await over.wait();
    worker.join();
    if (thrown) std::rethrow_exception(thrown);
    co_return std::move(*answer);
  }

  /// Makes an object that stays until everything is closed, for what runs beside the check.
  template <class T, class... Args> T& keep(Args&&... args) {
    auto made = std::make_shared<T>(std::forward<Args>(args)...);
    T& kept = *made;
    kept_.push_back(std::move(made));
    return kept;
  }
  /// Runs `work` beside the check; whatever it uses must be kept.
  void beside(task<void> work, const char* what) { background_.spawn(std::move(work), what); }

  task<void> clear();

 private:
  kit_ptr kit_;
  runtime* runtime_;
  task_group background_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::vector<std::unique_ptr<receiver>> receivers_;
  std::vector<std::unique_ptr<mounted>> mounted_;
  std::vector<std::unique_ptr<service_run>> services_;
};

} // namespace millrace::testing::conformance
