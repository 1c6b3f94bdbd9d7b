#pragma once

#include "session/request_mux.hpp"
#include "transport/transport.hpp"

#include <millrace/incoming.hpp>
#include <millrace/nats/broker.hpp>
#include <millrace/nats/options.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::nats::detail {

/// Told what becomes of the connection, on a thread of the transport. Calls of one observer do not overlap.
class connection_observer {
 public:
  virtual void on_connection_lost(const error& why) noexcept = 0;
  virtual void on_connection_restored() noexcept = 0;
  /// For good.
  virtual void on_connection_gone(const error& why) noexcept = 0;

 protected:
  ~connection_observer() = default;
};

/// What everything made from one connected broker shares: the transport, the inbox, and the closed flag that is set
/// before any I/O of the shutdown (lifecycle L3) and that every handle looks at first (L4).
class connection final : public connection_listener, public std::enable_shared_from_this<connection> {
 public:
  connection(runtime& rt, connect_settings settings) noexcept : runtime_(rt), settings_(std::move(settings)) {}
  ~connection();
  /// `from`: whose thread messages arrive on.
  void attach(std::shared_ptr<transport> wire, deliver_from from);

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  [[nodiscard]] runtime& clock() noexcept { return runtime_; }
  [[nodiscard]] const connect_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] transport& wire() noexcept { return *wire_; }
  [[nodiscard]] request_mux& mux() noexcept { return *mux_; }
  [[nodiscard]] deliver_from delivers_from() const noexcept { return from_; }

  void add(std::weak_ptr<connection_observer> observer);

  [[nodiscard]] task<result<closed_broker>> shutdown();

  void on_disconnected(const error& why) noexcept override;
  void on_reconnected() noexcept override;
  void on_closed(const error& why) noexcept override;
  void on_server_error(std::string_view text) noexcept override;

 private:
  [[nodiscard]] std::vector<std::shared_ptr<connection_observer>> observers();

  runtime& runtime_;
  const connect_settings settings_;
  std::shared_ptr<transport> wire_;
  deliver_from from_ = deliver_from::anywhere;
  std::optional<request_mux> mux_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<std::weak_ptr<connection_observer>> observers_;
};

} // namespace millrace::nats::detail
