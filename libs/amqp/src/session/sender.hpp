#pragma once

#include "session/hub.hpp"
#include "session/shared_link.hpp"

#include <string>

namespace millrace::amqp::detail {

/// The sending link of one address, shared by all publishers of the connection (lifecycle A4). Many transfers may be
/// unsettled at once; they stay in order.
class sender final : public shared_link {
 public:
  sender(hub& shared, std::string address, node_kind kind);

  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  [[nodiscard]] node_kind kind() const noexcept { return kind_; }

  // With the hub's mutex.
  /// True: it was empty before, so that the I/O side must be told.
  [[nodiscard]] bool put(out_entry& e) noexcept {
    const bool was_empty = inbox_.empty();
    inbox_.push(e);
    return was_empty;
  }
  [[nodiscard]] bool inbox_empty() const noexcept { return inbox_.empty(); }
  void take_inbox() noexcept;

  // I/O side only.
  /// Sends what there is credit for.
  void pump(connection& c);
  /// Nothing waits and nothing is unsettled.
  [[nodiscard]] bool is_idle() const noexcept { return waiting_.empty() && in_flight_.empty(); }
  /// When the message that was put last runs out of time.
  [[nodiscard]] time_point newest_due() const noexcept { return newest_due_; }
  [[nodiscard]] std::optional<time_point> idle_since() const override {
    if (link_state() != state::open || !is_idle()) return std::nullopt;
    return last_used_;
  }
  void close_idle() override { close(); }

  std::optional<time_point> sweep(connection& c, time_point now) override;
  void begin_close(connection& c) override;
  void end(const error& why) override;
  void on_flow(connection& c) override { pump(c); }
  void on_delivery(connection& c, pn_delivery_t* d) override;

 protected:
  void on_open(connection& c) override;
  void on_lost(connection& c, error why, bool was_open) override;
  void on_closed(connection& c, std::optional<error> why) override;
  [[nodiscard]] bool is_wanted() const override { return !waiting_.empty() && !ending_; }
  [[nodiscard]] pn_link_t* make_link(connection& c, pn_session_t* session) override;
  [[nodiscard]] std::string place() const override { return "address '" + address_ + "'"; }

 private:
  void send(out_entry& e);
  void fail_all(entry_list& list, const error& why);
  void fail_transactional(const error& why);
  void finish(out_entry& e, result<receipt> answer);
  void expire(entry_list& list, time_point now, const char* why);
  void flush_done();

  hub* hub_;
  const std::string address_;
  const node_kind kind_;
  entry_list inbox_;     ///< guarded by the hub's mutex
  entry_list waiting_;   ///< for the link, or for credit
  entry_list in_flight_; ///< sent, not settled
  entry_list done_;      ///< to be given back to the pool
  std::uint64_t last_tag_ = 0;
  time_point last_used_;
  time_point newest_due_;
  bool ending_ = false;
};

} // namespace millrace::amqp::detail
