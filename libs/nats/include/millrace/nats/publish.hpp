#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace::nats {

/// Publishes to core NATS: success means handed to the connection; no server answers. Also for requests. The default
/// policy. It has no options per message.
class publish {
 public:
  publish() = default;
  class options {};
  static constexpr bool can_request = true;
};

/// Publishes to a stream: success means that the stream acknowledged, and the receipt has stream, sequence and whether
/// it was a duplicate. A refusal writes nothing to the stream, though core subscribers of the subject have seen the
/// message.
class jetstream_publish {
 public:
  jetstream_publish() = default;
  /// Refused where another stream serves the subject.
  jetstream_publish& expect_stream(std::string name) { return stream_ = std::move(name), *this; }
  [[nodiscard]] const std::string& expected_stream() const noexcept { return stream_; }

  /// What one message may ask for; all optional, and only what is set is sent.
  class options {
   public:
    options() = default;
    /// A repeat within the stream's deduplication window is acknowledged, marked duplicate, and not stored.
    options& message_id(std::string id) { return message_id_ = std::move(id), *this; }
    /// Refused unless the stream's last sequence is `n`; 0: unless the stream is empty.
    options& expect_last_sequence(std::uint64_t n) { return last_sequence_ = n, *this; }
    /// The same, of this subject.
    options& expect_last_subject_sequence(std::uint64_t n) { return last_subject_sequence_ = n, *this; }
    /// Refused unless the last stored message has this id.
    options& expect_last_message_id(std::string id) { return last_message_id_ = std::move(id), *this; }

    [[nodiscard]] const std::optional<std::string>& message_id() const noexcept { return message_id_; }
    [[nodiscard]] std::optional<std::uint64_t> expected_last_sequence() const noexcept { return last_sequence_; }
    [[nodiscard]] std::optional<std::uint64_t> expected_last_subject_sequence() const noexcept {
      return last_subject_sequence_;
    }
    [[nodiscard]] const std::optional<std::string>& expected_last_message_id() const noexcept {
      return last_message_id_;
    }

   private:
    std::optional<std::string> message_id_;
    std::optional<std::uint64_t> last_sequence_;
    std::optional<std::uint64_t> last_subject_sequence_;
    std::optional<std::string> last_message_id_;
  };
  static constexpr bool can_request = false;

 private:
  std::string stream_;
};

/// Options of one message, for a publish builder: each applies itself to the policy's `options`, found by ADL.
class message_id {
 public:
  explicit message_id(std::string id) : id_(std::move(id)) {}
  friend void apply(jetstream_publish::options& to, const message_id& option) { to.message_id(option.id_); }

 private:
  std::string id_;
};
class expect_last_sequence {
 public:
  explicit expect_last_sequence(std::uint64_t n) : n_(n) {}
  friend void apply(jetstream_publish::options& to, const expect_last_sequence& option) {
    to.expect_last_sequence(option.n_);
  }

 private:
  std::uint64_t n_;
};
class expect_last_subject_sequence {
 public:
  explicit expect_last_subject_sequence(std::uint64_t n) : n_(n) {}
  friend void apply(jetstream_publish::options& to, const expect_last_subject_sequence& option) {
    to.expect_last_subject_sequence(option.n_);
  }

 private:
  std::uint64_t n_;
};
class expect_last_message_id {
 public:
  explicit expect_last_message_id(std::string id) : id_(std::move(id)) {}
  friend void apply(jetstream_publish::options& to, const expect_last_message_id& option) {
    to.expect_last_message_id(option.id_);
  }

 private:
  std::string id_;
};

} // namespace millrace::nats
