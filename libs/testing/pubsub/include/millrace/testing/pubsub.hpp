#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

/// Pub/Sub in this process, on a port of 127.0.0.1, for tests: a gRPC server with the rules that the service has and
/// the emulator has not (the streams' flow control, the order of a key after a refusal, filters, the 10 MiB error,
/// exactly-once refusals), and with faults on demand. In memory. Methods are named as in the API ("Publish",
/// "StreamingPull"); another name throws `std::invalid_argument`. Codes are those of gRPC (14: UNAVAILABLE).
/// Thread-safe.
class fake_pubsub {
 public:
  /// A subscription, as a test creates it and reads it back.
  class subscription {
   public:
    subscription(std::string name, std::string topic) : name(std::move(name)), topic(std::move(topic)) {}
    std::string name;  ///< full
    std::string topic; ///< full
    bool ordered = false;
    bool exactly_once = false;
    std::string filter;
    std::string dead_letter_topic; ///< full; empty: no policy
    std::int32_t max_delivery_attempts = 0;
    std::chrono::milliseconds retry_pause{0}; ///< the least of the retry policy; 0: no policy
  };

  /// What it shows to clients of `root_certificates`: PEM texts.
  class certificate {
   public:
    certificate(std::string chain, std::string key) : chain(std::move(chain)), key(std::move(key)) {}
    std::string chain;
    std::string key;
  };

  /// Starts. `port` 0: a free one. Throws `std::runtime_error` if the port is taken.
  explicit fake_pubsub(std::uint16_t port = 0);
  /// The same over TLS. Throws `std::runtime_error` too if the certificate is none.
  explicit fake_pubsub(const certificate& shown, std::uint16_t port = 0);
  fake_pubsub(const fake_pubsub&) = delete;
  fake_pubsub& operator=(const fake_pubsub&) = delete;
  /// Ends every call.
  ~fake_pubsub();

  /// host:port, for `broker::emulator`.
  [[nodiscard]] std::string address() const;

  /// These throw `std::runtime_error` where the service would refuse a client: it is there already, or it is not.
  void create_topic(const std::string& full_name);
  void create_subscription(const subscription& wanted);
  void delete_topic(const std::string& full_name);
  /// Its streams end with NOT_FOUND.
  void delete_subscription(const std::string& full_name);
  [[nodiscard]] bool has_topic(const std::string& full_name) const;
  [[nodiscard]] std::optional<subscription> find_subscription(const std::string& full_name) const;
  /// Messages of a subscription that wait, and that are delivered and neither settled nor expired.
  [[nodiscard]] std::size_t waiting(const std::string& full_name) const;
  [[nodiscard]] std::size_t outstanding(const std::string& full_name) const;
  [[nodiscard]] std::size_t open_streams(const std::string& full_name) const;

  /// The next `times` calls of the method answer this code; streams end with it as they open.
  void fail_next(std::string_view method, int code, std::size_t times = 1, std::string text = "scripted");
  /// A request with a message of this payload is refused, with INVALID_ARGUMENT, as a topic's schema would.
  void refuse_payload(std::string payload);
  /// An exactly-once subscription says of these ids of the next acknowledgements that another attempt is worth it.
  void refuse_acks_for_now(std::size_t calls);
  /// Answers of the method wait this long; zero: no more.
  void slow_down(std::string_view method, std::chrono::milliseconds by);
  /// Calls of the method get no answer until this is called with false: then they do.
  void hold(std::string_view method, bool on = true);
  /// Ends every open stream; new ones are accepted.
  void end_streams(int code, const std::string& text = "scripted");
  /// Everything expires that is delivered, as if its deadline were over.
  void expire_leases(const std::string& full_name);

  /// How often the method was called, failures included.
  [[nodiscard]] std::size_t calls(std::string_view method) const;
  /// The requests of a method as they came, encoded; kept from `record` on.
  void record(std::string_view method);
  [[nodiscard]] std::vector<std::string> recorded(std::string_view method) const;
  /// What the metadata `authorization` of the last call said.
  [[nodiscard]] std::string last_authorization() const;

  class state; ///< internal

 private:
  std::unique_ptr<state> state_;
};

} // namespace millrace::testing
