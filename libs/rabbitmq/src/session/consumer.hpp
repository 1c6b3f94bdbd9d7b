#pragma once

#include "session/backoff.hpp"
#include "session/channel_user.hpp"
#include "session/delivery.hpp"
#include "session/opening.hpp"

#include <millrace/event.hpp>
#include <millrace/incoming.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::rabbitmq::detail {

/// How an operation on the I/O thread ended, for the coroutine that waits.
struct outcome_of {
  explicit outcome_of(runtime& rt) noexcept : done(rt) {}
  event done;
  std::optional<error> failure;
  bool handshake = false; ///< of a close
};

/// One subscription: opens its channel by its plan, hands deliveries over in batches, and opens again after a loss. I/O
/// thread only.
class consumer final : public channel_user {
 public:
  consumer(std::shared_ptr<consumer_seat> seat, sink& to, std::vector<opening_step> plan, bool declares,
           std::uint64_t seed);
  ~consumer();

  /// The first opening; `first` learns how it ended, once.
  void open_first(session& s, std::shared_ptr<outcome_of> first, time_point due);
  /// The connection is there: opens if it should be open and is not.
  void restore(session& s);
  /// No call of the sink begins after this.
  void stop(session& s);
  void close(session& s);
  /// The session is over.
  void end(const error& why) noexcept;
  /// connection.blocked, or its end (null).
  void blocked(const error* why) noexcept;
  /// What is due now; answers when the next thing is.
  [[nodiscard]] std::optional<time_point> tick(session& s, time_point now);
  /// Gives what this turn brought to the sink.
  void hand_over() noexcept;

  [[nodiscard]] bool on_open(session& s) override;
  [[nodiscard]] bool on_method(session& s, method what, reader& args) override;
  [[nodiscard]] bool on_header(session& s, std::string_view payload) override;
  [[nodiscard]] bool on_body(session& s, std::string_view payload) override;
  void on_gone(session& s, std::uint16_t code, std::string_view text) noexcept override;

 private:
  enum class state : std::uint8_t { idle, opening, consuming, waiting, stopped };
  void open(session& s);
  void opened(session& s);
  [[nodiscard]] bool on_cancel(session& s, reader& args);
  [[nodiscard]] bool on_deliver(reader& args);
  [[nodiscard]] bool completed(session& s);
  void close_gate() noexcept;
  void lost(session& s, error why, bool for_good) noexcept;
  void finish_first(session& s, error why) noexcept;
  [[nodiscard]] bool is_for_good(std::uint16_t code, std::string_view text) const noexcept;

  std::shared_ptr<consumer_seat> seat_;
  delivery_pool::owner pool_;
  sink* sink_;
  opening_machine machine_;
  backoff backoff_;
  std::shared_ptr<outcome_of> first_;
  state state_ = state::idle;
  std::uint16_t channel_ = 0;
  std::uint32_t generation_ = 0;
  std::string tag_;
  delivery* current_ = nullptr;
  incoming_batch batch_;
  std::optional<time_point> due_; ///< of the first opening, or of the next attempt
  bool declares_;
  bool interrupted_ = false;
  bool is_blocked_ = false;
};

} // namespace millrace::rabbitmq::detail
