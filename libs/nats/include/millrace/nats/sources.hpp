#pragma once

#include <millrace/broker.hpp>
#include <millrace/error.hpp>
#include <millrace/runtime.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::nats {

/// Core NATS, one concrete subject: pushed, at most once, nothing acknowledged. A bare string means this.
class subject {
 public:
  explicit subject(std::string name) : name_(std::move(name)) {}
  /// The members of a group share its messages; a group is known by its name alone, whatever the subjects.
  subject& queue_group(std::string group) { return group_ = std::move(group), *this; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// A router's prefix, in front of the subject.
  void add_prefix(std::string_view prefix) { name_.insert(0, prefix); }
  [[nodiscard]] const std::string& queue() const noexcept { return group_; }
  /// Before any I/O. An empty subject and a pattern are `errc::invalid_options`; whitespace, an empty token and a group
  /// that is not one token are `errc::subscribe`.
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::addressed, name_}; }

 private:
  std::string name_;
  std::string group_;
};

/// Core NATS, a pattern: `*` is one token, `>` the rest. Retries need a destination of the registration: a pattern is
/// no address.
class wildcard {
 public:
  explicit wildcard(std::string pattern) : pattern_(std::move(pattern)) {}
  wildcard& queue_group(std::string group) { return group_ = std::move(group), *this; }

  [[nodiscard]] const std::string& name() const noexcept { return pattern_; }
  /// A router's prefix, in front of the subject.
  void add_prefix(std::string_view prefix) { pattern_.insert(0, prefix); }
  [[nodiscard]] const std::string& queue() const noexcept { return group_; }
  /// As of `subject`, but for patterns.
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::named, {}}; }

 private:
  std::string pattern_;
  std::string group_;
};

/// Where a consumer that is created starts reading. An existing durable goes on where it stands.
class deliver_policy {
 public:
  enum class kind : std::uint8_t { all, new_only, last, last_per_subject, by_start_sequence, by_start_time };

  /// Every message that the stream holds; the default.
  [[nodiscard]] static deliver_policy all() { return deliver_policy(kind::all); }
  /// Only what is stored after the consumer was created.
  [[nodiscard]] static deliver_policy new_only() { return deliver_policy(kind::new_only); }
  [[nodiscard]] static deliver_policy last() { return deliver_policy(kind::last); }
  [[nodiscard]] static deliver_policy last_per_subject() { return deliver_policy(kind::last_per_subject); }
  [[nodiscard]] static deliver_policy by_start_sequence(std::uint64_t sequence);
  [[nodiscard]] static deliver_policy by_start_time(std::chrono::system_clock::time_point time);

  [[nodiscard]] kind how() const noexcept { return kind_; }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  [[nodiscard]] std::chrono::system_clock::time_point time() const noexcept { return time_; }

 private:
  explicit deliver_policy(kind how) noexcept : kind_(how) {}
  kind kind_;
  std::uint64_t sequence_ = 0;
  std::chrono::system_clock::time_point time_;
};

/// A JetStream stream, read through a pull consumer and acknowledged message by message. The server holds and delays
/// what is retried.
class jetstream {
 public:
  static constexpr bool forms_batches = true; ///< for a handler of batches: one batch is one fetch

  /// `subject` is the consumer's filter: a subject or a pattern within the stream's.
  jetstream(std::string stream, std::string subject) : stream_(std::move(stream)), subject_(std::move(subject)) {}

  /// The consumer's name: the server keeps its position, and services that share it compete. Unset: an ephemeral
  /// consumer, which the server forgets some seconds after the service went away.
  jetstream& durable(std::string name) { return durable_ = std::move(name), *this; }
  /// Another filter than the constructor's.
  jetstream& filter_subject(std::string subject) { return subject_ = std::move(subject), *this; }
  /// An unsettled delivery comes back after this; default 30 s.
  jetstream& ack_wait(duration d) { return ack_wait_ = d, *this; }
  /// The server stops sending at so many unsettled messages; default 1024.
  jetstream& max_ack_pending(std::int64_t n) { return max_ack_pending_ = n, *this; }
  jetstream& deliver(deliver_policy policy) { return deliver_ = policy, *this; }

  /// How many messages the client holds at most, handled or waiting. Their `ack_wait` runs already, so a window that is
  /// large for its workers gets messages redelivered that nobody has looked at. 0, the default: it starts at twice the
  /// workers and doubles, up to `max_ack_pending` or 1024, while a full window is settled within an eighth of
  /// `ack_wait`; it is halved when that takes longer than a quarter.
  jetstream& pull_window(std::uint32_t messages) { return window_ = messages, *this; }
  /// How long the server keeps one pull request open; default 30 s.
  jetstream& pull_expires(duration d) { return expires_ = d, *this; }
  /// The server's sign of life on an idle pull, at most half of `pull_expires`; default 5 s. After two missed ones the
  /// consumer is looked up and pulled again.
  jetstream& idle_heartbeat(duration d) { return heartbeat_ = d, *this; }

  [[nodiscard]] const std::string& name() const noexcept { return subject_; }
  /// A router's prefix, in front of the subject.
  void add_prefix(std::string_view prefix) { subject_.insert(0, prefix); }
  [[nodiscard]] const std::string& stream() const noexcept { return stream_; }
  [[nodiscard]] const std::string& durable() const noexcept { return durable_; }
  [[nodiscard]] duration ack_wait() const noexcept { return ack_wait_; }
  [[nodiscard]] std::int64_t max_ack_pending() const noexcept { return max_ack_pending_; }
  [[nodiscard]] const deliver_policy& deliver() const noexcept { return deliver_; }
  [[nodiscard]] std::uint32_t pull_window() const noexcept { return window_; }
  [[nodiscard]] duration pull_expires() const noexcept { return expires_; }
  [[nodiscard]] duration idle_heartbeat() const noexcept { return heartbeat_; }

  /// Before any I/O: `errc::jetstream` for a stream or durable that is no name and a filter that is no pattern,
  /// `errc::invalid_options` for an empty subject, durations and counts that are not positive, and a heartbeat above
  /// half of `pull_expires`.
  [[nodiscard]] result<void> check() const;
  [[nodiscard]] retry_path retries() const { return {retry_path::kind::held, {}}; }

 private:
  std::string stream_;
  std::string subject_;
  std::string durable_;
  duration ack_wait_ = std::chrono::seconds(30);
  std::int64_t max_ack_pending_ = 1024;
  deliver_policy deliver_ = deliver_policy::all();
  std::uint32_t window_ = 0;
  duration expires_ = std::chrono::seconds(30);
  duration heartbeat_ = std::chrono::seconds(5);
};

} // namespace millrace::nats
