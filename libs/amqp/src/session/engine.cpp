#include "session/engine.hpp"

#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/sasl.h>
#include <proton/transport.h>

#include <algorithm>
#include <cstring>

namespace millrace::amqp::detail {
namespace {

const char* mechanism_of(sasl::mechanism how) noexcept {
  switch (how) {
  case sasl::mechanism::plain:
    return "PLAIN";
  case sasl::mechanism::external:
    return "EXTERNAL";
  default:
    return "ANONYMOUS";
  }
}

sasl profile_of(const broker_settings& settings, const std::optional<net::login>& in_url) {
  if (settings.login) return *settings.login;
  if (in_url) return sasl::plain(in_url->user, in_url->password);
  return sasl::anonymous();
}

std::string property(pn_data_t* map, std::string_view wanted) {
  pn_data_rewind(map);
  if (!pn_data_next(map) || pn_data_type(map) != PN_MAP) return {};
  const std::size_t count = pn_data_get_map(map);
  pn_data_enter(map);
  for (std::size_t i = 0; i + 1 < count && pn_data_next(map); i += 2) {
    const pn_bytes_t name = pn_data_get_bytes(map);
    const bool found = pn_data_type(map) == PN_SYMBOL && std::string_view(name.start, name.size) == wanted;
    if (!pn_data_next(map)) return {};
    if (!found || (pn_data_type(map) != PN_STRING && pn_data_type(map) != PN_SYMBOL)) continue;
    const pn_bytes_t value = pn_data_get_bytes(map);
    return {value.start, value.size};
  }
  return {};
}

std::int64_t milliseconds_of(time_point now) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() + 1;
}

} // namespace

engine::engine() { pn_connection_driver_init(&driver_, nullptr, nullptr); }

engine::~engine() { pn_connection_driver_destroy(&driver_); }

void engine::open(const broker_settings& settings, const std::string& container_id,
                  const std::optional<net::login>& in_url, const std::string& host) {
  pn_connection_t* const connection = driver_.connection;
  pn_transport_t* const transport = driver_.transport;
  const sasl profile = profile_of(settings, in_url);
  const std::string& name = settings.virtual_host.empty() ? host : settings.virtual_host;
  pn_connection_set_container(connection, container_id.c_str());
  pn_connection_set_hostname(connection, name.c_str());
  pn_sasl_t* const login = pn_sasl(transport);
  pn_sasl_allowed_mechs(login, mechanism_of(profile.how()));
  pn_sasl_set_allow_insecure_mechs(login, true); // TLS, where there is any, is below this engine
  if (profile.how() == sasl::mechanism::plain) {
    pn_connection_set_user(connection, profile.user().c_str());
    pn_connection_set_password(connection, profile.password().c_str());
  }
  const auto idle = std::chrono::ceil<std::chrono::milliseconds>(settings.idle_timeout).count();
  pn_transport_set_idle_timeout(transport, static_cast<pn_millis_t>(std::clamp<std::int64_t>(idle, 0, 0x7fffffff)));
  pn_transport_set_max_frame(transport, settings.max_frame_size);
  pn_connection_open(connection);
  pn_connection_driver_bind(&driver_);
}

std::size_t engine::feed(std::string_view input) {
  const pn_rwbytes_t room = pn_connection_driver_read_buffer(&driver_);
  const std::size_t n = std::min(room.size, input.size());
  if (n == 0) return 0;
  std::memcpy(room.start, input.data(), n);
  pn_connection_driver_read_done(&driver_, n);
  return n;
}

void engine::input_closed() { pn_connection_driver_read_close(&driver_); }

void engine::output(std::string& to) {
  while (true) {
    const pn_bytes_t pending = pn_connection_driver_write_buffer(&driver_);
    if (pending.size == 0) return;
    to.append(pending.start, pending.size);
    pn_connection_driver_write_done(&driver_, pending.size);
  }
}

std::optional<time_point> engine::tick(time_point now) {
  const std::int64_t ms = milliseconds_of(now);
  const std::int64_t next = pn_transport_tick(driver_.transport, ms);
  if (next <= 0) return std::nullopt;
  return now + std::chrono::milliseconds(std::max<std::int64_t>(next - ms, 1));
}

std::string engine::failure() const { return text_of(pn_transport_condition(driver_.transport)); }

bool engine::login_refused() const noexcept {
  const pn_sasl_outcome_t outcome = pn_sasl_outcome(pn_sasl(driver_.transport));
  return (outcome != PN_SASL_NONE && outcome != PN_SASL_OK) || failure().starts_with("amqp:unauthorized-access");
}

peer_facts engine::peer() const {
  pn_data_t* const properties = pn_connection_remote_properties(driver_.connection);
  peer_facts facts;
  if (properties == nullptr) return facts;
  facts.product = property(properties, "product");
  facts.version = property(properties, "version");
  facts.queue_prefix = property(properties, "queue-prefix");
  facts.topic_prefix = property(properties, "topic-prefix");
  return facts;
}

std::string text_of(pn_condition_t* condition) {
  if (condition == nullptr || !pn_condition_is_set(condition)) return {};
  std::string text = pn_condition_get_name(condition);
  const char* const description = pn_condition_get_description(condition);
  if (description != nullptr && *description != '\0') text.append(": ").append(description);
  return text;
}

error with_words(error e, const std::string& words) {
  if (words.empty()) return e;
  return error(std::move(e).from_server(0, words));
}

} // namespace millrace::amqp::detail
