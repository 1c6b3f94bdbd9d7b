#pragma once

#include <millrace/service.hpp>
#include <millrace/testing/options.hpp>
#include <millrace/testing/test_broker.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace millrace::testing {

/// Runs a production service for a test: the same value, the same start order, hooks, dispatch and shutdown.
///
///     millrace::testing::test_service t(app);                  // in process, on a virtual clock
///     t.publish("orders", order{1, "tea"});                    // returns when the reaction is over
///     t.subscription("orders").called_once().settled(millrace::retry_after(5s));
///     t.advance(5s);
///     t.subscription("orders").called(2).settled(millrace::ack());
///
/// With `testing::live` the brokers are the real ones. Used from one thread, the test's. Nothing sleeps and nothing is
/// polled: in process everything runs on the test's thread and time is virtual.
class test_service {
 public:
  /// Starts. Throws `start_failed` with the service's error.
  template <class State> explicit test_service(service<State>& app, in_process options = {})
      : test_service(app.core(), options) {}
  template <class State> test_service(service<State>& app, live options) : test_service(app.core(), options) {}
  explicit test_service(const std::shared_ptr<service_core>& app, in_process options = {});
  test_service(const std::shared_ptr<service_core>& app, live options);
  /// Starts without throwing.
  template <class State> [[nodiscard]] static result<test_service> start(service<State>& app, in_process options = {}) {
    return start(app.core(), options);
  }
  template <class State> [[nodiscard]] static result<test_service> start(service<State>& app, live options) {
    return start(app.core(), options);
  }
  [[nodiscard]] static result<test_service> start(const std::shared_ptr<service_core>& app, in_process options = {});
  [[nodiscard]] static result<test_service> start(const std::shared_ptr<service_core>& app, live options);

  test_service(test_service&&) noexcept;
  test_service& operator=(test_service&&) noexcept;
  /// Shuts down, unless `shutdown` did.
  ~test_service();

  /// The service's broker of this type. Throws `unknown_name` or `ambiguous_name`, which list the brokers.
  template <broker_type Broker> [[nodiscard]] test_broker broker() const {
    return broker_of_type(&millrace::detail::type_tag<Broker>);
  }
  /// The broker with this label; one without a label goes by its address.
  [[nodiscard]] test_broker broker(std::string_view label) const;
  /// The broker, where the service has exactly one.
  [[nodiscard]] test_broker broker() const;

  /// On the only broker; see `test_broker`.
  template <class Codec = json_codec, class T>
  receipt publish(std::string_view destination, const T& value, const header_map& headers = {}) const {
    return broker().publish<Codec>(destination, value, headers);
  }
  receipt publish_text(std::string_view destination, std::string_view payload, const header_map& headers = {}) const {
    return broker().publish_text(destination, payload, headers);
  }
  receipt publish_bytes(std::string_view destination, bytes_view payload, const header_map& headers = {}) const {
    return broker().publish_bytes(destination, payload, headers);
  }
  template <class Codec = json_codec, class T> [[nodiscard]] reply request(std::string_view destination, const T& value,
                                                                           duration timeout = std::chrono::seconds(5),
                                                                           const header_map& headers = {}) const {
    return broker().request<Codec>(destination, value, timeout, headers);
  }
  [[nodiscard]] reply request_text(std::string_view destination, std::string_view payload,
                                   duration timeout = std::chrono::seconds(5), const header_map& headers = {}) const {
    return broker().request_text(destination, payload, timeout, headers);
  }

  /// The subscription with this registration name, on whichever broker. Throws `unknown_name` or `ambiguous_name`.
  [[nodiscard]] subscription_view subscription(std::string_view name) const;
  /// What went to this destination, on any broker.
  [[nodiscard]] published_view published(std::string_view destination) const;
  /// What handlers published through the output of this name, to any destination, on any broker. What they published
  /// otherwise is not in it: through a publisher of their own, or as a reply.
  [[nodiscard]] published_view published_through(std::string_view output) const;

  /// In process: runs everything that can run without the clock moving, e.g. after a publish through a publisher of the
  /// service. Throws `unfinished_reaction`. Live, quiescence cannot be computed: throws `harness_error`.
  void settle();
  /// In process: moves the clock, stopping at each timer that comes due. Live: really waits.
  void advance(duration d);
  /// Runs a coroutine of the test's on the service's runtime, in process to the end of its reaction.
  template <class T> T drive(task<T> work) {
    auto kept = std::make_shared<std::optional<T>>();
    finish(keep(std::move(work), kept));
    return std::move(**kept);
  }
  void drive(task<void> work) { finish(std::move(work)); }

  /// Waits until the subscription's handler was called `n` times; live at most the bound. Throws `wait_timed_out`, at
  /// once where nothing is left to wait for: the service failed or, in process, it is quiescent.
  void wait_for(std::string_view subscription, std::size_t n);
  /// The same for messages to a destination.
  void wait_for_published(std::string_view destination, std::size_t n);

  [[nodiscard]] health_report health() const;
  /// Why the service wants to stop by itself, e.g. a handler failed under `fail_fast`. It runs on until `shutdown`.
  [[nodiscard]] std::optional<error> failure() const;
  /// Throws `expectation_failed` if the service failed, asked to be stopped or was shut down.
  void assert_running() const;
  /// Stops in order and answers what `service::run_until` would. In process the clock moves through every bound.
  /// A second call answers the same.
  result<void> shutdown();

  /// The service's runtime: its clock, and `external_begin` for outside work.
  [[nodiscard]] millrace::runtime& runtime() const noexcept;

 private:
  explicit test_service(std::unique_ptr<harness> started) noexcept;
  [[nodiscard]] test_broker broker_of_type(const void* type) const;
  void finish(task<void> work);
  template <class T> static task<void> keep(task<T> work, std::shared_ptr<std::optional<T>> kept) {
    kept->emplace(co_await std::move(work));
  }

  std::unique_ptr<harness> harness_;
};

} // namespace millrace::testing
