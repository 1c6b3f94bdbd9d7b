#pragma once

#include <optional>
#include <string>

namespace millrace::pubsub {

/// Publishes to a topic, by short id or full name. Success means that the service has the message; the receipt has its
/// id. The ordering key of a message is, the most specific first: its option, its header `partition-key`, the policy's.
class publish {
 public:
  publish() = default;
  /// The key of every message that brings none. Messages of one key are published one request after the other.
  publish& ordering_key(std::string key) { return key_ = std::move(key), *this; }
  [[nodiscard]] const std::string& ordering_key() const noexcept { return key_; }

  class options {
   public:
    options() = default;
    options& ordering_key(std::string key) { return key_ = std::move(key), *this; }
    [[nodiscard]] const std::optional<std::string>& ordering_key() const noexcept { return key_; }

   private:
    std::optional<std::string> key_;
  };
  static constexpr bool can_request = false;

 private:
  std::string key_;
};

/// One message's ordering key, for a publish builder: `.with(pubsub::order_by("customer-7"))`.
class order_by {
 public:
  explicit order_by(std::string key) : key_(std::move(key)) {}
  friend void apply(publish::options& to, const order_by& option) { to.ordering_key(option.key_); }

 private:
  std::string key_;
};

} // namespace millrace::pubsub
