#pragma once

#include "session/hub.hpp"
#include "session/shared_link.hpp"

#include <millrace/event.hpp>
#include <millrace/outgoing.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace millrace::amqp::detail {

/// The receiving link of a connection's requesters, at an address of the peer's making. It attaches with the first
/// request; replies find their requests by correlation id, settled on receipt.
class reply_link final : public shared_link, public std::enable_shared_from_this<reply_link> {
 public:
  explicit reply_link(std::shared_ptr<hub> shared) : hub_(std::move(shared)) {}

  /// On the runtime: publishes `message` with a reply address and waits, at most `timeout`.
  [[nodiscard]] task<result<reply_message>> request(node_kind kind, std::string destination, outbound_message message,
                                                    duration timeout);

  std::optional<time_point> sweep(connection& /*c*/, time_point /*now*/) override { return std::nullopt; }
  void begin_close(connection& c) override;
  void end(const error& why) override;
  void on_delivery(connection& c, pn_delivery_t* d) override;

 protected:
  void on_open(connection& c) override;
  void on_lost(connection& c, error why, bool was_open) override;
  [[nodiscard]] bool is_wanted() const override { return wanted_; }
  [[nodiscard]] pn_link_t* make_link(connection& c, pn_session_t* session) override;
  [[nodiscard]] std::string place() const override { return "address '(dynamic)'"; }

 private:
  struct pending {
    explicit pending(runtime& rt) noexcept : answered(rt) {}
    event answered; ///< also: the address is known
    std::optional<error> failure;
    reply_message reply;
  };
  using pending_ptr = std::shared_ptr<pending>;
  [[nodiscard]] std::string current_address();
  [[nodiscard]] task<result<std::string>> address(time_point due);
  [[nodiscard]] pending_ptr take(std::string_view correlation) noexcept;
  void fail_all(const error& why);
  void received_reply();

  std::shared_ptr<hub> hub_;
  // Guarded by the hub's mutex.
  std::string address_; ///< empty: not attached
  std::vector<pending_ptr> openers_;
  std::map<std::string, pending_ptr, std::less<>> pending_;
  std::uint64_t last_id_ = 0;
  // I/O side only.
  bool wanted_ = false;
  std::string bytes_;
};

} // namespace millrace::amqp::detail
