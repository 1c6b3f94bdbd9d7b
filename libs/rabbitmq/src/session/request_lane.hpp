#pragma once

#include "session/lane.hpp"

#include <millrace/event.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail {

/// The lane of a requester: direct reply-to. Its reply consumer is there before the first request leaves.
class request_lane final : public lane {
 public:
  using lane::lane;

  /// Publishes and waits for the reply with its correlation id, at most `timeout`.
  [[nodiscard]] task<result<reply_message>> request(std::string exchange, std::string destination, bytes_view payload,
                                                    message_properties properties, duration timeout);

  [[nodiscard]] bool on_open(session& s) override;
  [[nodiscard]] bool on_method(session& s, method what, reader& args) override;
  [[nodiscard]] bool on_header(session& s, std::string_view payload) override;
  [[nodiscard]] bool on_body(session& s, std::string_view payload) override;
  void on_gone(session& s, std::uint16_t code, std::string_view text) noexcept override;

 protected:
  void gate_closed() noexcept override;

 private:
  struct pending {
    explicit pending(runtime& rt) noexcept : answered(rt) {}
    event answered;
    reply_message reply;
    std::optional<error> failure;
    bool handed = false; ///< the channel has the question
  };
  enum class reading : std::uint8_t { nothing, reply, returned };
  [[nodiscard]] std::shared_ptr<pending> take(std::uint64_t id) noexcept;
  void finish_content();

  // Guarded by the link's mutex.
  std::map<std::uint64_t, std::shared_ptr<pending>> pending_;
  std::vector<std::shared_ptr<pending>> lost_; ///< until they are told
  std::uint64_t last_id_ = 0;
  // I/O thread only.
  reading reading_ = reading::nothing;
  bool has_header_ = false;
  std::uint64_t missing_ = 0;
  std::string properties_;
  std::string body_;
  std::string returned_to_;
};

} // namespace millrace::rabbitmq::detail
