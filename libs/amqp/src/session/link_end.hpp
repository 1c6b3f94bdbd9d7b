#pragma once

#include <millrace/error.hpp>
#include <millrace/runtime.hpp>

#include <cstdint>
#include <optional>

struct pn_link_t;
struct pn_session_t;
struct pn_delivery_t;
struct pn_condition_t;

namespace millrace::amqp::detail {

class connection;

/// Our end of a link: attaches it, learns how the peer answers, closes it. I/O side only.
class link_end {
 public:
  enum class state : std::uint8_t { idle, attaching, open, closing };

  link_end() = default;
  link_end(const link_end&) = delete;
  link_end& operator=(const link_end&) = delete;

  [[nodiscard]] state link_state() const noexcept { return state_; }
  [[nodiscard]] pn_link_t* link() const noexcept { return link_; }

  // Told by the connection.
  void remote_open(connection& c);
  /// `closed`: with the link's state at the peer; otherwise it only let go of the link.
  void remote_gone(connection& c, bool closed);
  /// Its session or its connection is gone, and the link with it.
  void lost_with(connection& c, const error& why);
  /// Closes without waiting; nothing is told any more.
  void abandon() noexcept;
  virtual void on_flow(connection& /*c*/) {}
  virtual void on_delivery(connection& c, pn_delivery_t* d) = 0;

 protected:
  ~link_end() = default;

  /// Opens `made`, which is configured.
  void attach(pn_link_t* made);
  /// The peer broke the rules: closes with this condition, and counts as lost.
  void refuse_peer(connection& c, const char* condition, const char* text);
  /// Detaches and waits for the answer; `keep`: the peer keeps the link's state (a durable subscription).
  void close(bool keep = false);

  virtual void on_open(connection& c) = 0;
  /// Refused, lost, or taken away. `condition` of the peer is in `why`.
  virtual void on_lost(connection& c, error why, bool was_open) = 0;
  /// The peer answered `close`; with an error where it gave one.
  virtual void on_closed(connection& c, std::optional<error> why) = 0;
  /// What errors are about: "address 'orders'".
  [[nodiscard]] virtual std::string place() const = 0;

 private:
  [[nodiscard]] bool peer_has_terminus() const;
  pn_link_t* link_ = nullptr;
  state state_ = state::idle;
};

} // namespace millrace::amqp::detail
