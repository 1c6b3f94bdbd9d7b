#pragma once

#include "protocol/url.hpp"
#include "session/backoff.hpp"
#include "session/consumer.hpp"
#include "session/engine.hpp"
#include "session/hub.hpp"
#include "session/reply_link.hpp"
#include "session/shared_link.hpp"

#include <millrace/net/transport.hpp>
#include <millrace/task.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::amqp::detail {

/// The I/O side of a connection: dials, opens, feeds the engine, tells links what the peer does, keeps idle timeouts,
/// and restores all of it after a loss. It knows no socket, only a transport, and no clock but the runtime's.
class connection final : public net::transport_listener {
 public:
  connection(std::shared_ptr<hub> shared, std::shared_ptr<net::transport> io, target to);
  virtual ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  // On the runtime.
  [[nodiscard]] task<result<void>> connect();
  /// Answers whether the orderly close took place.
  [[nodiscard]] task<result<bool>> shutdown();
  [[nodiscard]] const std::shared_ptr<hub>& shared() const noexcept { return hub_; }
  [[nodiscard]] const std::shared_ptr<reply_link>& replies() const noexcept { return replies_; }
  [[nodiscard]] bool is_over() const noexcept { return over_.load(); }

  // On the I/O side, for links and their owners.
  [[nodiscard]] const broker_settings& settings() const noexcept { return hub_->settings; }
  [[nodiscard]] bool is_ready() const noexcept { return state_ == state::ready; }
  [[nodiscard]] bool is_closing() const noexcept { return state_ == state::closing; }
  [[nodiscard]] const peer_facts& peer() const noexcept { return peer_; }
  [[nodiscard]] pn_session_t* publish_session() const noexcept { return publish_session_; }
  [[nodiscard]] pn_session_t* begin_session(consumer& owner);
  /// Nobody is told of this session any more; freed when the peer has answered.
  void forget_session(pn_session_t* session) noexcept;
  [[nodiscard]] std::string link_name(const char* role);
  /// Whether trying again cannot help, by the peer's condition.
  [[nodiscard]] bool is_for_good(std::string_view condition) const noexcept;
  void add(std::shared_ptr<consumer> c) { consumers_.push_back(std::move(c)); }
  void remove(consumer& c) noexcept;
  void add(const std::shared_ptr<shared_link>& l);
  void remove(shared_link& l) noexcept;
  /// Before one more sending link: closes the one that was idle for longest, where there are too many.
  void make_room();
  void mark_dirty(consumer& c) { dirty_.push_back(&c); }
  void call_at(time_point due) noexcept;
  /// Something that a shutdown may wait for has happened.
  void step_done() noexcept { step_done_ = true; }

  void on_connected() noexcept override;
  std::size_t on_bytes(std::string_view input) noexcept override;
  void on_written() noexcept override;
  void on_lost(std::string why) noexcept override;
  void on_wake() noexcept override;

 private:
  enum class state : std::uint8_t { idle, dialling, opening, ready, waiting, closing, over };
  enum class close_step : std::uint8_t { receivers, senders, session, connection };
  struct alarm_timer : timer {
    explicit alarm_timer(connection& c) noexcept;
    connection* owner;
  };

  // connection.cpp: turns
  void finish_turn() noexcept;
  void take_work();
  void hand_over() noexcept;
  [[nodiscard]] bool flush();

  // connection_events.cpp: what the engine says
  void dispatch();
  void on_event(pn_event_t* e);
  void on_session_event(pn_event_t* e);
  void on_link_event(pn_event_t* e);
  void on_remote_open();
  void on_remote_close();
  void on_transport_end();
  void publish_session_lost(const std::string& condition);
  void begin_publish_session();

  // connection_dial.cpp: the connection's life
  void begin(std::shared_ptr<outcome_of> first);
  void dial_next();
  void opened();
  void attempt_failed(error why, bool final);
  void connection_lost(error why);
  void forget_connection(const error& why);
  void wait_and_retry();
  void end_everything(const error& why);

  // connection_close.cpp: the shutdown
  void begin_close(std::shared_ptr<outcome_of> closing);
  void start_step();
  void advance_close();
  [[nodiscard]] bool step_complete() const noexcept;
  [[nodiscard]] bool only_an_end_is_missing() const noexcept;
  void collect_step_errors();
  void finish_close(bool orderly);

  // connection_time.cpp: the clock
  void tick();
  void tick_links(time_point now);
  void arm_alarm() noexcept;

  std::shared_ptr<hub> hub_;
  std::shared_ptr<net::transport> io_;
  target target_;
  std::unique_ptr<engine> engine_;
  std::vector<std::unique_ptr<engine>> dead_engines_; ///< freed at the end of the turn that lost them
  state state_ = state::idle;
  peer_facts peer_;
  pn_session_t* publish_session_ = nullptr;
  int session_losses_ = 0; ///< in a row
  std::size_t host_ = 0;
  std::size_t hosts_left_ = 0;
  std::uint64_t link_sequence_ = 0;

  std::vector<std::shared_ptr<consumer>> consumers_;
  std::vector<std::shared_ptr<consumer>> removed_;
  std::vector<std::shared_ptr<shared_link>> links_;
  std::vector<std::shared_ptr<shared_link>> removed_links_;
  std::vector<consumer*> dirty_;
  std::shared_ptr<reply_link> replies_;
  std::vector<std::shared_ptr<sender>> taken_senders_;
  std::vector<std::shared_ptr<consumer_seat>> taken_seats_;

  std::string writing_;
  bool write_busy_ = false;
  std::shared_ptr<outcome_of> first_;
  std::vector<std::shared_ptr<outcome_of>> closing_;
  close_step step_ = close_step::receivers;
  time_point close_due_;
  bool step_done_ = false;
  std::optional<error> close_failure_;
  pauses pauses_;

  std::optional<time_point> attempt_due_, retry_due_, engine_due_, step_due_, call_due_;
  std::optional<time_point> armed_;
  alarm_timer alarm_;
  std::atomic<bool> alarm_fired_ = false;
  std::atomic<bool> over_ = false;
};

} // namespace millrace::amqp::detail
