#pragma once

#include "transport/libnats/key_login.hpp"
#include "transport/transport.hpp"

#include <millrace/nats/options.hpp>

#include <nats/nats.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::nats::detail {

class libnats_route;

/// What the client's callbacks point at. It keeps itself alive until the client has said that the connection is closed,
/// its last word, so that a late callback never finds freed memory (nats 12.44).
class libnats_context : public std::enable_shared_from_this<libnats_context> {
 public:
  libnats_context(connect_settings s, std::weak_ptr<connection_listener> l) noexcept
      : settings(std::move(s)), listener_(std::move(l)) {}

  ~libnats_context();
  libnats_context(const libnats_context&) = delete;
  libnats_context& operator=(const libnats_context&) = delete;

  [[nodiscard]] natsStatus install(natsOptions* options);
  /// From now on the client may call back.
  void connected() noexcept { self_ = shared_from_this(); }
  /// There is no connection after all: the client says nothing.
  void not_connected() noexcept { self_.reset(); }

  void add(const std::shared_ptr<libnats_route>& route);
  /// Keeps a subscription that was not drained until the connection is closed: the client's reading thread looks a
  /// subscription up, lets its lock go and uses it, so that freeing one that still receives is a use after free there.
  void bury(natsSubscription* sub);
  /// What the drain could not do; empty if it did everything.
  [[nodiscard]] std::string drain_error() const;
  void on_close(std::function<void()> told);

  const connect_settings settings;
  key_login login{settings};

 private:
  void disconnected(natsConnection* nc) noexcept;
  void reconnected(natsConnection* nc) noexcept;
  void closed(natsConnection* nc) noexcept;
  void failed(natsSubscription* sub, natsStatus status, const char* text) noexcept;
  [[nodiscard]] std::shared_ptr<libnats_route> find(natsSubscription* sub);

  std::weak_ptr<connection_listener> listener_;
  std::shared_ptr<libnats_context> self_;
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<libnats_route>> routes_;
  std::vector<natsSubscription*> buried_;
  std::string drain_error_;
  std::function<void()> told_closed_;
  bool closed_ = false;
};

} // namespace millrace::nats::detail
