#include "transport/libnats/libnats_transport.hpp"

#include "session/blocking.hpp"
#include "transport/libnats/libnats_context.hpp"
#include "transport/libnats/libnats_message.hpp"
#include "transport/libnats/libnats_options.hpp"
#include "transport/libnats/libnats_status.hpp"
#include "transport/libnats/libnats_subscription.hpp"
#include "transport/libnats/socket_bound.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <random>

namespace millrace::nats::detail {
namespace {

/// The client flushes and joins its threads where a connection that is not closed is destroyed: on a thread of its own.
struct destroy_connection {
  void operator()(natsConnection* nc) const noexcept {
    if (natsConnection_IsClosed(nc)) return natsConnection_Destroy(nc);
    std::thread([nc] { natsConnection_Destroy(nc); }).detach();
  }
};

std::shared_ptr<natsConnection> share(natsConnection* nc) { return {nc, destroy_connection{}}; }

constexpr duration grace = std::chrono::seconds(1); // beyond what bounds the client itself

/// NUL-terminated text for the client, on the stack unless it is long.
class c_text {
 public:
  explicit c_text(std::string_view text) {
    if (text.size() < near_.size()) [[likely]] {
      std::memcpy(near_.data(), text.data(), text.size());
      near_[text.size()] = '\0';
    } else
      far_ = text;
  }
  [[nodiscard]] const char* get() const noexcept { return far_.empty() ? near_.data() : far_.c_str(); }

 private:
  std::array<char, 256> near_;
  std::string far_;
};

class libnats_transport final : public transport {
 public:
  libnats_transport(runtime& rt, std::shared_ptr<natsConnection> nc, std::shared_ptr<libnats_context> context) noexcept
      : runtime_(rt), nc_(std::move(nc)), context_(std::move(context)) {}

  [[nodiscard]] result<void> publish(const wire_message& message) noexcept override;
  [[nodiscard]] plain_publish plain() const noexcept override;
  [[nodiscard]] result<std::unique_ptr<wire_subscription>>
  subscribe(std::string_view subject, std::string_view queue, receiver& to, std::uint64_t pending_limit) override;
  [[nodiscard]] task<result<void>> flush(duration bound) override;
  [[nodiscard]] task<result<void>> close(duration bound) override;
  [[nodiscard]] std::string take_last_error() override;
  [[nodiscard]] server_facts server() const override;
  [[nodiscard]] transport_counters counters() const override;
  [[nodiscard]] bool connected() const noexcept override;
  [[nodiscard]] std::string new_inbox() override;

 private:
  [[nodiscard]] static result<void> refused(natsStatus status, std::string_view subject);

  runtime& runtime_;
  std::shared_ptr<natsConnection> nc_;
  std::shared_ptr<libnats_context> context_;
};

result<void> libnats_transport::refused(natsStatus status, std::string_view subject) {
  const bool closed = status == NATS_CONNECTION_CLOSED || status == NATS_DRAINING;
  return fail(status_error(status, closed ? errc::closed : errc::publish, "subject '" + std::string(subject) + "'"));
}

plain_publish libnats_transport::plain() const noexcept {
  static_assert(NATS_OK == 0);
  const auto send = [](void* client, const char* subject, const void* payload, int size) {
    return static_cast<int>(natsConnection_Publish(static_cast<natsConnection*>(client), subject, payload, size));
  };
  return {send, nc_.get()};
}

result<void> libnats_transport::publish(const wire_message& m) noexcept {
  natsStatus status = NATS_OK;
  if (m.headers != nullptr && !m.headers->empty()) {
    result<message_handle> made = make_natsmsg(m);
    if (!made) return fail(std::move(made.error()));
    status = natsConnection_PublishMsg(nc_.get(), made->get());
  } else {
    if (m.payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) [[unlikely]]
      return refused(NATS_MAX_PAYLOAD, m.subject);
    const auto size = static_cast<int>(m.payload.size());
    const c_text subject(m.subject);
    if (m.reply.empty())
      status = natsConnection_Publish(nc_.get(), subject.get(), m.payload.data(), size);
    else
      status = natsConnection_PublishRequest(nc_.get(), subject.get(), c_text(m.reply).get(), m.payload.data(), size);
  }
  if (status == NATS_OK) [[likely]]
    return {};
  return refused(status, m.subject);
}

result<std::unique_ptr<wire_subscription>> libnats_transport::subscribe(std::string_view subject,
                                                                        std::string_view queue, receiver& to,
                                                                        std::uint64_t pending_limit) {
  const auto route = std::make_shared<libnats_route>(runtime_, to, context_);
  result<void> made = route->subscribe(nc_.get(), std::string(subject), std::string(queue), pending_limit);
  if (!made) return fail(std::move(made.error()));
  context_->add(route);
  return std::make_unique<libnats_subscription>(nc_, route);
}

task<result<void>> libnats_transport::flush(duration bound) {
  auto work = [nc = nc_, milliseconds = to_milliseconds(bound)] {
    const natsStatus status = natsConnection_FlushTimeout(nc.get(), milliseconds);
    std::optional<error> fault;
    if (status != NATS_OK)
      fault = status_error(status, status == NATS_TIMEOUT ? errc::request_timeout : errc::disconnected, "flush");
    return fault;
  };
  std::optional<std::optional<error>> answer = co_await run_blocking(runtime_, bound + grace, std::move(work));
  if (!answer) co_return fail(errc::request_timeout, "flush");
  if (*answer) co_return fail(std::move(**answer));
  co_return result<void>();
}

/// Whatever is subscribed was stopped before, so the client's drain only sends what was published: it refuses
/// publishes, flushes, closes, and says so, without its polling.
task<result<void>> libnats_transport::close(duration bound) {
  const auto closed = std::make_shared<signal>(runtime_);
  context_->on_close([closed] { closed->set(); });
  const external_work seen(runtime_);
  const natsStatus status = natsConnection_DrainTimeout(nc_.get(), to_milliseconds(bound));
  if (status != NATS_OK) {
    error fault = status_error(status, errc::shutdown, "drain");
    auto work = [nc = nc_] {
      natsConnection_Close(nc.get());
      return true;
    };
    (void)co_await run_blocking(runtime_, bound, std::move(work));
    co_return fail(std::move(fault));
  }
  const bool in_time = co_await closed->wait(bound + grace);
  if (!in_time) co_return fail(errc::shutdown, "drain: the connection did not close in time");
  const std::string fault = context_->drain_error();
  if (!fault.empty()) co_return fail(error(make_error_code(errc::shutdown), "drain").from_server(0, fault));
  co_return result<void>();
}

std::string libnats_transport::take_last_error() {
  const char* text = nullptr;
  if (natsConnection_GetLastError(nc_.get(), &text) == NATS_OK || text == nullptr) return {};
  return text;
}

server_facts libnats_transport::server() const {
  server_facts facts;
  std::array<char, 512> url{};
  if (natsConnection_GetConnectedUrl(nc_.get(), url.data(), url.size()) == NATS_OK)
    facts.address = describe_addresses(url.data());
  facts.max_payload = static_cast<std::size_t>(natsConnection_GetMaxPayload(nc_.get()));
  return facts;
}

transport_counters libnats_transport::counters() const {
  transport_counters out;
  natsStatistics* raw = nullptr;
  if (natsStatistics_Create(&raw) != NATS_OK) return out;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t reconnects = 0;
  if (natsConnection_GetStats(nc_.get(), raw) == NATS_OK)
    (void)natsStatistics_GetCounts(raw, &out.messages_received, &bytes_in, &out.messages_sent, &bytes_out, &reconnects);
  natsStatistics_Destroy(raw);
  out.connects = reconnects + 1;
  return out;
}

bool libnats_transport::connected() const noexcept {
  return natsConnection_Status(nc_.get()) == NATS_CONN_STATUS_CONNECTED;
}

// Half as long as the client's own: it stands in every message of a stream, and the client reads that letter by letter.
std::string libnats_transport::new_inbox() {
  constexpr std::string_view letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::random_device random;
  std::string inbox = context_->settings.inbox_prefix + '.';
  for (std::uint64_t left = std::uint64_t{random()} << 32U | random(); left != 0; left /= letters.size())
    inbox += letters[left % letters.size()];
  return inbox;
}

/// What the dialling thread brings back. If nobody waits for it any more, the connection goes again.
struct dialled {
  std::shared_ptr<natsConnection> nc;
  std::optional<error> fault;
};

dialled dial(natsOptions* options, const std::string& shown, key_login& login) {
  dialled out;
  natsConnection* nc = nullptr;
  natsStatus status = NATS_OK;
  int more = 8;
  do
    status = natsConnection_Connect(&nc, options);
  while (status != NATS_OK && login.gave_up() && more-- > 0);
  if (status == NATS_OK)
    out.nc = share(nc);
  else
    out.fault = status_error(status, errc::connect, shown);
  return out;
}

std::string show(const std::vector<address>& servers) {
  std::string shown;
  for (const address& one : servers)
    shown += (shown.empty() ? "" : ",") + one.host_port;
  return shown;
}

} // namespace

task<result<std::shared_ptr<transport>>> connect_libnats(runtime& rt, std::vector<address> servers,
                                                         connect_settings settings,
                                                         std::weak_ptr<connection_listener> listener) {
  const duration bound = settings.connect_timeout + grace;
  const auto context = std::make_shared<libnats_context>(std::move(settings), std::move(listener));
  result<options_handle> made = make_options(context->settings, servers);
  if (!made) co_return fail(std::move(made.error()));
  const std::string shown = show(servers);
  if (const natsStatus status = context->install(made->get()); status != NATS_OK)
    co_return fail(status_error(status, errc::connect, shown));

  context->connected();
  const std::shared_ptr<natsOptions> options(made->release(), destroy_options{});
  auto work = [options, context, shown] {
    dialled out = dial(options.get(), shown, context->login);
    if (out.fault)
      context->not_connected();
    else
      bound_writes(out.nc.get(), context->settings.write_timeout);
    return out;
  };
  std::optional<dialled> answer = co_await run_blocking(rt, bound, std::move(work));
  if (!answer) co_return fail(errc::connect, shown + ": no answer in time");
  if (answer->fault) co_return fail(std::move(*answer->fault));
  co_return std::make_shared<libnats_transport>(rt, std::move(answer->nc), context);
}

} // namespace millrace::nats::detail
