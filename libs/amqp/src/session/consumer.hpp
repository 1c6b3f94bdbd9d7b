#pragma once

#include "session/backoff.hpp"
#include "session/delivery.hpp"
#include "session/link_end.hpp"

#include <millrace/incoming.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pn_session_t;

namespace millrace::amqp::detail {

/// One subscription: a session of its own, a receiving link with credit (lifecycle A3), deliveries handed over in
/// batches, settlements sent, and all of it again after a loss. I/O side only.
class consumer final : public link_end {
 public:
  consumer(std::shared_ptr<consumer_seat> seat, sink& to);
  virtual ~consumer();

  /// The first opening; `first` learns how it ended, once.
  void open_first(connection& c, std::shared_ptr<outcome_of> first, time_point due);
  /// The connection is there: opens if it should be open and is not.
  void restore(connection& c);
  /// No call of the sink begins after this; settlements are still sent.
  void stop(connection& c);
  /// Closes the link once the deliveries that are out were settled.
  void close(connection& c);
  /// The shutdown: detaches, then ends the session (lifecycle A5).
  void begin_close(connection& c);
  [[nodiscard]] bool is_closed() const noexcept { return link() == nullptr && session_ == nullptr; }
  [[nodiscard]] const std::optional<error>& close_error() const noexcept { return close_error_; }
  [[nodiscard]] std::string describe() const { return place(); }
  /// The connection is over.
  void end(const error& why) noexcept;
  /// What is due now; answers when the next thing is.
  [[nodiscard]] std::optional<time_point> tick(connection& c, time_point now);

  /// Sends what was settled since the last call, and gives credit back.
  void settle_all(connection& c);
  /// Gives what this turn brought to the sink.
  void hand_over(deliver_from where) noexcept;

  void on_session_gone(connection& c, const error& why);
  void on_delivery(connection& c, pn_delivery_t* d) override;
  /// The connection is lost.
  void lost_connection(connection& c, const error& why);

 protected:
  void on_open(connection& c) override;
  void on_lost(connection& c, error why, bool was_open) override;
  void on_closed(connection& c, std::optional<error> why) override;
  [[nodiscard]] std::string place() const override { return seat_->place(); }

 private:
  enum class phase : std::uint8_t { idle, opening, consuming, waiting, stopped };
  void open(connection& c);
  void refuse_unfiltered(connection& c);
  void end_session();
  void leave_session(connection& c);
  void close_gate() noexcept;
  void lost(connection& c, error why, bool for_good);
  void finish_first(connection& c, error why);
  [[nodiscard]] bool take_bytes(connection& c, pn_delivery_t* d);
  void completed(connection& c, pn_delivery_t* d);
  void refuse(connection& c, pn_delivery_t* d, const char* why);
  void give_credit();
  void overdrawn_by(int deliveries);
  void close_if_drained(connection& c);
  [[nodiscard]] pn_link_t* make_link(connection& c);

  std::shared_ptr<consumer_seat> seat_;
  delivery_pool::owner pool_;
  sink* sink_;
  pauses pauses_;
  std::shared_ptr<outcome_of> first_;
  std::optional<time_point> due_; ///< of the first opening, or of the next attempt
  pn_session_t* session_ = nullptr;
  phase phase_ = phase::idle;
  std::uint32_t generation_ = 0;
  delivery* current_ = nullptr;
  bool oversize_ = false;
  std::uint32_t out_ = 0;       ///< deliveries that were handed over and are not settled
  std::uint32_t freed_ = 0;     ///< credit that is to be given back
  std::uint32_t overdrawn_ = 0; ///< what the peer took without credit: not given again
  std::vector<settlement_entry> settling_;
  incoming_batch batch_;
  std::optional<error> close_error_;
  bool interrupted_ = false;
  bool closing_ = false; ///< the shutdown or the owner closes it
};

} // namespace millrace::amqp::detail
