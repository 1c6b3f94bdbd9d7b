#pragma once

#include "driver.hpp"

#include <millrace/publisher.hpp>
#include <millrace/service_run.hpp>
#include <millrace/testing/record.hpp>
#include <millrace/testing/reply.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

/// A service under test: its run, what makes time pass, and the record.
class harness {
 public:
  template <class Options> harness(std::shared_ptr<service_core> core, Options options)
      : core_(std::move(core)), record_(std::make_shared<recorder>()), driver_(make_driver(options, record_)),
        run_(core_, driver_->rt(), record_.get()) {
    add_publishers();
  }
  harness(const harness&) = delete;
  harness& operator=(const harness&) = delete;
  ~harness() = default;

  /// Shuts down if that was not done, and destroys the harness; it stays where a handler does not return.
  static void release(std::unique_ptr<harness> used) noexcept;

  result<void> start();
  result<void> shutdown();
  result<receipt> publish(std::size_t broker, const outgoing& message);
  result<reply> request(std::size_t broker, const outgoing& message, duration timeout);
  void finish(task<void> work);
  void wait_for(std::string_view subscription, std::size_t n);
  void wait_for_published(std::string_view destination, std::size_t n);
  void assert_running();

  [[nodiscard]] std::size_t broker_of_type(const void* type) const;
  [[nodiscard]] std::size_t broker_called(std::string_view label) const;
  [[nodiscard]] std::size_t only_broker() const;
  /// Where to find the subscription in the record; on the broker, if one is named.
  [[nodiscard]] record_filter subscription(std::optional<std::size_t> broker, std::string_view name) const;
  [[nodiscard]] record_filter channel(std::size_t broker, std::string_view destination) const;

  [[nodiscard]] driver& time() noexcept { return *driver_; }
  [[nodiscard]] const service_run& run() const noexcept { return run_; }
  [[nodiscard]] const std::shared_ptr<recorder>& record() const noexcept { return record_; }

 private:
  void add_publishers();
  template <class T> T finish_with(task<T> work);
  template <class Count> void wait(const std::string& what, std::size_t n, const char* unit, Count count);
  [[nodiscard]] std::size_t one_of(const std::vector<std::size_t>& found, const std::string& asked) const;
  [[nodiscard]] std::string list_brokers() const;

  std::shared_ptr<service_core> core_;
  std::shared_ptr<recorder> record_;
  std::unique_ptr<driver> driver_;
  std::vector<std::shared_ptr<millrace::detail::publish_cell>> publishers_;
  service_run run_;
  bool started_ = false;
  std::optional<result<void>> stopped_;
};

} // namespace millrace::testing
