#pragma once

#include "protocol/content.hpp"
#include "session/channel_user.hpp"
#include "session/confirm_ledger.hpp"
#include "session/link.hpp"

#include <millrace/outgoing.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail {

/// One message for a lane; all lent.
struct lane_message {
  std::string_view exchange;
  std::string_view routing_key;
  const message_properties* properties = nullptr;
  bytes_view payload;
  bool mandatory = false;
  std::optional<time_point> due; ///< nothing: the publish timeout from now
  bool* handed = nullptr;        ///< set, with the mutex, when the message goes to the channel; lives until it ended
};

/// A channel that messages leave through, from any thread. It opens on first use, opens again after a loss, and holds
/// what cannot leave yet: in order, within the publish timeout.
class lane : public channel_user, public std::enable_shared_from_this<lane> {
 public:
  explicit lane(std::shared_ptr<link> shared) noexcept : link_(std::move(shared)) {}
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  virtual ~lane() = default;

  /// From any thread. Completes `op` now or later.
  void publish(const lane_message& message, publish_operation& op);

  [[nodiscard]] runtime& clock() const noexcept { return link_->clock; }
  /// The largest frame that this connection's server takes.
  [[nodiscard]] std::uint32_t frame_max() const noexcept;
  /// Whether the connection was shut down.
  [[nodiscard]] bool is_closed() const noexcept;
  /// The same for frames that are encoded already, addressed to no channel.
  void publish_frames(std::string frames, std::string_view routing_key, publish_operation& op);

  // On the I/O thread.
  /// Opens the channel if anybody waits for it, or if `always`.
  void want(session& s, bool always);
  /// Sends what waits and can go.
  void pump() noexcept;
  /// Ends what is due, and answers when the next wait is.
  [[nodiscard]] std::optional<time_point> sweep(time_point now) noexcept;
  /// The session is over: everything that waits ends with `why`.
  void end(const error& why) noexcept;

  [[nodiscard]] bool on_open(session& s) override;
  [[nodiscard]] bool on_method(session& s, method what, reader& args) override;
  [[nodiscard]] bool on_header(session& /*s*/, std::string_view /*payload*/) override { return true; }
  [[nodiscard]] bool on_body(session& /*s*/, std::string_view /*payload*/) override { return true; }
  void on_gone(session& s, std::uint16_t code, std::string_view text) noexcept override;

 protected:
  virtual void opened() noexcept;
  /// With the mutex: the channel is lost, and what was handed to it.
  virtual void gate_closed() noexcept {}
  /// With the mutex: the channel, while it is open.
  [[nodiscard]] const channel_gate& gate() const noexcept { return gate_; }
  [[nodiscard]] link& shared() const noexcept { return *link_; }
  /// The number of the channel that is opening or open. I/O thread.
  [[nodiscard]] std::uint16_t number() const noexcept { return opening_; }
  /// The ledger of a confirming lane; null: a publish is done when it is handed over.
  [[nodiscard]] virtual confirm_ledger* ledger() noexcept { return nullptr; }
  /// With the mutex: somebody waits for the channel itself.
  [[nodiscard]] virtual bool needed() const noexcept { return false; }
  virtual void on_return(const return_args& /*args*/) {}

 private:
  struct waiting_publish {
    publish_operation* operation;
    std::string frames;
    std::string routing_key;
    time_point due;
    bool* handed;
  };
  [[nodiscard]] bool can_send() noexcept;
  [[nodiscard]] bool wait(waiting_publish w);
  void ask_session(bool ask, bool sweep);
  void close_gate(std::vector<settled_publish>& ended) noexcept;
  void complete(std::vector<settled_publish>& ended, std::uint16_t code, std::string_view text) noexcept;

  std::shared_ptr<link> link_;
  // Guarded by the link's mutex.
  channel_gate gate_;
  std::deque<waiting_publish> waiting_;
  bool wanted_ = false; ///< the session was asked to open the channel
  bool swept_ = false;  ///< the session has a timer for what waits here
  // I/O thread only.
  std::uint16_t opening_ = 0;
  std::vector<settled_publish> ended_;
};

/// The lane of a confirming publisher.
class confirm_lane final : public lane {
 public:
  confirm_lane(std::shared_ptr<link> shared, std::uint32_t window) noexcept : lane(std::move(shared)) {
    ledger_.limit(std::max<std::uint32_t>(window, 1));
  }
  [[nodiscard]] bool on_open(session& s) override;

 protected:
  [[nodiscard]] confirm_ledger* ledger() noexcept override { return &ledger_; }
  void on_return(const return_args& args) override;

 private:
  confirm_ledger ledger_;
};

} // namespace millrace::rabbitmq::detail
