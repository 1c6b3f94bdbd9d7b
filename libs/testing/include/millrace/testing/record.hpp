#pragma once

#include <millrace/headers.hpp>
#include <millrace/observer.hpp>
#include <millrace/outcome.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

/// How a delivery ended.
enum class outcome_kind : std::uint8_t {
  ack,
  nack,           ///< `retry()`
  nack_after,     ///< `retry_after(d)`
  drop,           ///< by the handler
  decode_failure, ///< the payload did not decode; the handler was not called
  exception,      ///< the handler threw
  unsettled,      ///< the stopping service gave the handler's wait up
};

/// "ack", "nack after", ….
[[nodiscard]] std::string_view to_string(outcome_kind kind) noexcept;

/// One message that was handed to a subscription.
struct recorded_delivery {
  std::string broker;
  std::string subscription;
  std::string subject;
  std::string payload;
  header_map headers;
  std::uint32_t attempt = 1;
  handled_event::failure failed = handled_event::failure::none;
  std::optional<settlement> settled; ///< what the handler or the policy chose; nothing: left unsettled
  std::string failure_text;
  std::uint64_t call = 0;     ///< the messages of a batch share it
  std::size_t batch_size = 1; ///< how many share it

  [[nodiscard]] outcome_kind kind() const noexcept;
  /// False: the payload did not decode.
  [[nodiscard]] bool reached_handler() const noexcept { return failed != handled_event::failure::decode; }
};

/// One message that the service, or the test, handed to a broker.
struct recorded_publish {
  std::string broker;
  std::string destination;
  std::string payload;
  header_map headers;
  std::string output; ///< the name of the handler's output that it left through; empty: through none
};

/// Names what to look for. An empty broker: on any.
struct record_filter {
  std::string broker;
  std::string name;       ///< the subscription, the destination, or the output
  bool by_output = false; ///< of publishes: `name` is an output
};

/// Records everything a service does, in order. Thread-safe.
class recorder final : public observer {
 public:
  void handled(const handled_event& event) noexcept override;
  void published(const published_event& event) noexcept override;

  [[nodiscard]] std::vector<recorded_delivery> deliveries(const record_filter& of) const;
  [[nodiscard]] std::vector<recorded_publish> publishes(const record_filter& of) const;
  /// How often the handler was called; a batch is one call.
  [[nodiscard]] std::size_t calls(const record_filter& of) const;
  [[nodiscard]] std::size_t publish_count(const record_filter& of) const;
  /// What was published where, for messages: "'orders' 2, 'invoices' 1".
  [[nodiscard]] std::string published_summary(std::string_view broker) const;

  /// Counts from here for `within`.
  void begin_reaction();
  /// An error once more than `limit` messages were handled or published since `begin_reaction`; it names the busiest.
  [[nodiscard]] result<void> within(std::size_t limit) const;

  /// Blocks until `done` holds, asked after everything that is recorded or announced; false: `bound` came first.
  bool wait(std::chrono::nanoseconds bound, const std::function<bool()>& done) const;
  /// Makes `wait` ask again.
  void announce() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<recorded_delivery> deliveries_;
  std::vector<recorded_publish> publishes_;
  std::size_t deliveries_before_ = 0;
  std::size_t publishes_before_ = 0;
  mutable std::uint64_t changes_ = 0;
};

} // namespace millrace::testing
