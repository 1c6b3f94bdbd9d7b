#pragma once

#include "protocol/uri.hpp"
#include "session/backoff.hpp"
#include "session/channel_table.hpp"
#include "session/consumer.hpp"
#include "session/handshake.hpp"
#include "session/lane.hpp"
#include "session/link.hpp"

#include <millrace/net/transport.hpp>
#include <millrace/task.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail {

/// The lane of everything that is published without a confirm. It opens with the connection (lifecycle R1).
class plain_lane final : public lane {
 public:
  using lane::lane;
  [[nodiscard]] bool on_open(session& s) override;
  void on_gone(session& s, std::uint16_t code, std::string_view text) noexcept override;
};

/// The I/O side of a connection: dials, shakes hands, hands frames to channels, keeps the heartbeat, and restores all
/// of it after a loss. It knows no socket, only a transport, and no clock but the runtime's.
class session final : public net::transport_listener {
 public:
  session(std::shared_ptr<link> shared, std::shared_ptr<net::transport> io, target to);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // On the runtime.
  [[nodiscard]] task<result<void>> connect();
  /// Answers whether the closing handshake took place.
  [[nodiscard]] task<bool> shutdown();
  [[nodiscard]] const std::shared_ptr<link>& shared() const noexcept { return link_; }
  [[nodiscard]] const std::shared_ptr<lane>& plain() const noexcept { return plain_; }

  // On the I/O thread, for channels' users.
  /// Lets `append(std::string&)` add frames to what is written next.
  template <class Append> void send(Append append) {
    const std::scoped_lock lock(link_->mutex);
    append(link_->out);
    (void)link_->promise_flush(); // the turn ends with a flush
  }
  [[nodiscard]] bool ready_for_channels() const noexcept {
    return state_ == state::ready || state_ == state::preparing;
  }
  /// Sends channel.open; 0: the connection has no free channel.
  [[nodiscard]] std::uint16_t open_channel(channel_user& user);
  void close_channel(std::uint16_t number);
  void adopt(const std::shared_ptr<lane>& l);
  void add(std::shared_ptr<consumer> c) { consumers_.push_back(std::move(c)); }
  void remove(consumer& c) noexcept;
  void mark_dirty(consumer& c) { dirty_.push_back(&c); }
  void call_at(time_point due) noexcept;
  /// The publish channel is open, or was refused.
  void prepared();
  void not_prepared(std::uint16_t code, std::string_view text);

  void on_connected() noexcept override;
  std::size_t on_bytes(std::string_view input) noexcept override;
  void on_written() noexcept override;
  void on_lost(std::string why) noexcept override;
  void on_wake() noexcept override;

 private:
  enum class state : std::uint8_t { idle, dialling, shaking, preparing, ready, waiting, closing, over };
  struct alarm_timer : timer {
    explicit alarm_timer(session& s) noexcept;
    session* owner;
  };

  // session.cpp: frames
  [[nodiscard]] bool on_frame(const frame& f);
  [[nodiscard]] bool on_connection_method(const frame& f);
  [[nodiscard]] bool on_channel_method(const frame& f, channel_table::slot& slot);
  void on_blocked(const std::string* reason);
  void finish_turn() noexcept;
  void flush() noexcept;
  [[nodiscard]] bool take_output() noexcept;
  void pump_lanes(bool all) noexcept;

  // session_dial.cpp: the connection's life
  void begin(std::shared_ptr<outcome_of> first);
  void dial_next();
  void attempt_failed(error why);
  void handshake_done();
  void connection_lost(error why);
  void forget_connection(std::uint16_t code, std::string_view text);
  void wait_and_retry();
  void begin_close(std::shared_ptr<outcome_of> closing);
  void finish_close(bool handshake);
  void end_everything(const error& why);

  // session_time.cpp
  void tick();
  void tick_heartbeat(time_point now);
  void arm_alarm() noexcept;
  void disarm_alarm() noexcept;

  std::shared_ptr<link> link_;
  std::shared_ptr<net::transport> io_;
  target target_;
  handshake_machine handshake_;
  channel_table channels_;
  std::shared_ptr<lane> plain_;
  std::vector<std::shared_ptr<lane>> lanes_;
  std::vector<std::shared_ptr<consumer>> consumers_;
  std::vector<std::shared_ptr<consumer>> removed_; ///< until the turn ends
  std::vector<consumer*> dirty_;
  backoff backoff_;

  state state_ = state::idle;
  std::shared_ptr<outcome_of> first_;
  std::shared_ptr<outcome_of> closing_;
  std::size_t host_ = 0;
  std::size_t hosts_left_ = 0; ///< of the first connect
  std::optional<error> last_failure_;
  std::uint32_t connection_ = 0; ///< raised when one is dropped
  std::string writing_;
  bool write_busy_ = false;
  bool heard_ = false;
  bool sent_ = false;
  int silent_ticks_ = 0;

  std::optional<time_point> attempt_due_; ///< of the dial and handshake under way
  std::optional<time_point> retry_due_;
  std::optional<time_point> heartbeat_due_;
  std::optional<time_point> close_due_;
  std::optional<time_point> call_due_; ///< of lanes and consumers
  std::optional<time_point> armed_;
  std::atomic<bool> alarm_fired_ = false;
  alarm_timer alarm_;
};

} // namespace millrace::rabbitmq::detail
