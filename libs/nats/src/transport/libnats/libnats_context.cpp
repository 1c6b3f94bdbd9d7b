#include "transport/libnats/libnats_context.hpp"

#include "transport/libnats/libnats_options.hpp"
#include "transport/libnats/libnats_status.hpp"
#include "transport/libnats/libnats_subscription.hpp"
#include "transport/libnats/socket_bound.hpp"

#include <millrace/log.hpp>

namespace millrace::nats::detail {

namespace {
libnats_context& of(void* closure) noexcept { return *static_cast<libnats_context*>(closure); }

error last_error(natsConnection* nc, errc kind, const char* what) {
  const char* text = nullptr;
  const natsStatus status = natsConnection_GetLastError(nc, &text);
  error e(make_error_code(kind), what);
  if (status == NATS_OK) return e;
  return std::move(e).from_server(static_cast<int>(status), text == nullptr ? std::string{} : std::string(text));
}
} // namespace

libnats_context::~libnats_context() {
  for (natsSubscription* sub : buried_)
    natsSubscription_Destroy(sub);
}

natsStatus libnats_context::install(natsOptions* options) {
  natsStatus status = login.install(options);
  if (status == NATS_OK)
    status = natsOptions_SetDisconnectedCB(
        options, [](natsConnection* nc, void* self) noexcept { of(self).disconnected(nc); }, this);
  if (status == NATS_OK)
    status = natsOptions_SetReconnectedCB(
        options, [](natsConnection* nc, void* self) noexcept { of(self).reconnected(nc); }, this);
  if (status == NATS_OK)
    status =
        natsOptions_SetClosedCB(options, [](natsConnection* nc, void* self) noexcept { of(self).closed(nc); }, this);
  if (status == NATS_OK)
    status = natsOptions_SetErrorHandler(
        options,
        [](natsConnection* nc, natsSubscription* sub, natsStatus s, void* self) noexcept {
          const char* text = nullptr;
          (void)natsConnection_GetLastError(nc, &text);
          of(self).failed(sub, s, text == nullptr ? "" : text);
        },
        this);
  if (status == NATS_OK)
    status = natsOptions_SetLameDuckModeCB(
        options,
        [](natsConnection*, void*) noexcept {
          log(log_level::warning, "nats: the server is in lame duck mode; the client moves on when it is cut off");
        },
        this);
  if (status == NATS_OK)
    status = natsOptions_SetCustomReconnectDelay(
        options,
        [](natsConnection*, int round, void* self) noexcept {
          return reconnect_pause_milliseconds(of(self).settings, round);
        },
        this);
  return status;
}

void libnats_context::add(const std::shared_ptr<libnats_route>& route) {
  const std::lock_guard lock(mutex_);
  std::erase_if(routes_, [](const auto& one) { return one.expired(); });
  routes_.push_back(route);
}

void libnats_context::bury(natsSubscription* sub) {
  const std::lock_guard lock(mutex_);
  buried_.push_back(sub);
}

std::shared_ptr<libnats_route> libnats_context::find(natsSubscription* sub) {
  const std::lock_guard lock(mutex_);
  for (const auto& one : routes_)
    if (std::shared_ptr<libnats_route> route = one.lock(); route != nullptr && route->is(sub)) return route;
  return nullptr;
}

std::string libnats_context::drain_error() const {
  const std::lock_guard lock(mutex_);
  return drain_error_;
}

void libnats_context::on_close(std::function<void()> told) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      told_closed_ = std::move(told);
      return;
    }
  }
  told();
}

void libnats_context::disconnected(natsConnection* nc) noexcept {
  if (const auto listener = listener_.lock())
    listener->on_disconnected(last_error(nc, errc::disconnected, "the connection to the server is lost"));
}

void libnats_context::reconnected(natsConnection* nc) noexcept {
  bound_writes(nc, settings.write_timeout);
  if (const auto listener = listener_.lock()) listener->on_reconnected();
}

void libnats_context::closed(natsConnection* nc) noexcept {
  const std::shared_ptr<libnats_context> self = std::move(self_);
  std::function<void()> told;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    told = std::move(told_closed_);
  }
  if (const auto listener = listener_.lock())
    listener->on_closed(last_error(nc, errc::closed, "the connection is closed"));
  if (told) told();
}

void libnats_context::failed(natsSubscription* sub, natsStatus status, const char* text) noexcept {
  if (status == NATS_SLOW_CONSUMER) {
    if (const auto route = find(sub)) route->slow();
    return;
  }
  if (status == NATS_NOT_PERMITTED || status == NATS_CONNECTION_AUTH_FAILED) {
    // A reconnect in the meantime has cleared the text.
    if (const auto listener = listener_.lock())
      listener->on_server_error(*text != '\0' ? text : natsStatus_GetText(status));
    return;
  }
  const std::lock_guard lock(mutex_);
  if (drain_error_.empty()) drain_error_ = natsStatus_GetText(status);
}

} // namespace millrace::nats::detail
