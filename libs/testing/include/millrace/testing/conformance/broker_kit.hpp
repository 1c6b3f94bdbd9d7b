#pragma once

#include <millrace/receiver.hpp>
#include <millrace/service.hpp>
#include <millrace/testing/conformance/capabilities.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::testing::conformance {

/// A connected broker, its type erased.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Opens the kit's source of this name.
  virtual task<result<std::unique_ptr<receiver>>> open(std::string name) = 0;
  /// Opens a source of this name that begins at the message of this position, where the kit has one.
  virtual task<result<std::unique_ptr<receiver>>> open_at(std::string name, std::uint64_t position) = 0;
  /// One more publisher of the kit's policy.
  virtual result<std::shared_ptr<publish_port>> publisher() = 0;
  /// Consumes the broker: nothing is opened after it. A second call does nothing.
  virtual task<result<void>> shutdown() = 0;
};

/// A configured broker, its type erased.
class configured {
 public:
  configured() = default;
  configured(const configured&) = delete;
  configured& operator=(const configured&) = delete;
  virtual ~configured() = default;

  /// Once.
  virtual task<result<std::unique_ptr<connection>>> connect(runtime& rt, run_mode mode) = 0;
};

/// A publisher of a service, its policy erased.
class sender {
 public:
  sender() = default;
  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;
  virtual ~sender() = default;

  virtual task<result<receipt>> publish(std::string destination, std::string payload, header_map headers) = 0;
  /// With a partition key, where the kit has them.
  virtual task<result<receipt>> publish_keyed(std::string destination, std::string payload, std::string key) = 0;
};

using raw_handler = std::function<outcome(bytes_view, context&)>;
using waiting_handler = std::function<task<outcome>(bytes_view, context&)>;
/// Answers an outcome for each element.
using batch_of_raw_handler = std::function<std::vector<outcome>(std::span<const bytes_view>, context&)>;

/// The broker while it is mounted on a service.
class mounted {
 public:
  mounted() = default;
  mounted(const mounted&) = delete;
  mounted& operator=(const mounted&) = delete;
  virtual ~mounted() = default;

  virtual registration& subscribe(const std::string& name, raw_handler handler) = 0;
  virtual registration& subscribe_waiting(const std::string& name, waiting_handler handler) = 0;
  virtual registration& subscribe_batches(const std::string& name, std::size_t size, batch_of_raw_handler handler) = 0;
  /// The source that the server refuses, where the kit has one.
  virtual registration& subscribe_to_refused(const std::string& name, raw_handler handler) = 0;
  virtual std::unique_ptr<sender> publisher() = 0;
};

/// One broker in one mode, as the checks use it. Made by `kit_of`; immutable, and used by one check at a time.
class broker_kit {
 public:
  broker_kit(std::string name, run_mode mode, capabilities can, duration quiet)
      : name_(std::move(name)), mode_(mode), can_(can), quiet_(quiet) {}
  broker_kit(const broker_kit&) = delete;
  broker_kit& operator=(const broker_kit&) = delete;
  virtual ~broker_kit() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] run_mode mode() const noexcept { return mode_; }
  [[nodiscard]] const capabilities& can() const noexcept { return can_; }
  /// How long a check waits before it believes that nothing comes.
  [[nodiscard]] duration quiet() const noexcept { return quiet_; }

  [[nodiscard]] virtual std::unique_ptr<configured> configure() const = 0;
  /// The broker for the server at `host_port`; null where the kit has no addresses.
  [[nodiscard]] virtual std::unique_ptr<configured> configure_at(const std::string& host_port) const = 0;
  [[nodiscard]] virtual bool has_addresses() const noexcept = 0;
  [[nodiscard]] virtual bool has_refused_source() const noexcept = 0;
  [[nodiscard]] virtual bool has_keys() const noexcept = 0;
  [[nodiscard]] virtual bool has_start_positions() const noexcept = 0;
  [[nodiscard]] virtual bool has_seek() const noexcept = 0;
  [[nodiscard]] virtual std::unique_ptr<mounted> mount(service<>& on) const = 0;

  /// Creates what the source of this name needs on the server.
  [[nodiscard]] virtual result<void> prepare(const std::string& name) const = 0;
  /// Where a message goes that the source of this name is to read.
  [[nodiscard]] virtual std::string destination(const std::string& name) const = 0;
  [[nodiscard]] virtual retry_path retries(const std::string& name) const = 0;

  /// The position of a message, for `open_at` and `seek`.
  [[nodiscard]] virtual std::uint64_t position_of(const delivery& d) const = 0;
  [[nodiscard]] virtual std::uint64_t position_of(context& ctx) const = 0;
  /// Moves the subscription of the message that is being handled; without a position: behind the newest message.
  [[nodiscard]] virtual result<void> seek(context& ctx, std::optional<std::uint64_t> to) const = 0;

 private:
  std::string name_;
  run_mode mode_;
  capabilities can_;
  duration quiet_;
};

using kit_ptr = std::shared_ptr<const broker_kit>;

} // namespace millrace::testing::conformance
