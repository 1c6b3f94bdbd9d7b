#pragma once

#include "protocol/url.hpp"
#include "session/peer.hpp"

#include <millrace/amqp/errors.hpp>
#include <millrace/amqp/options.hpp>
#include <millrace/runtime.hpp>

#include <proton/connection_driver.h>

#include <optional>
#include <string>
#include <string_view>

struct pn_condition_t;

namespace millrace::amqp::detail {

/// Qpid Proton's protocol engine for one connection: bytes in, events and bytes out. No socket and no clock.
class engine {
 public:
  engine();
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// As a client: SASL and `open`, not yet sent.
  void open(const broker_settings& settings, const std::string& container_id, const std::optional<net::login>& in_url,
            const std::string& host);

  /// False: the peer broke the protocol, or closed; what is left of `input` is not wanted.
  [[nodiscard]] bool input(std::string_view input, auto&& on_progress) {
    while (!input.empty()) {
      const std::size_t taken = feed(input);
      if (taken == 0) return false;
      input.remove_prefix(taken);
      on_progress();
    }
    return true;
  }
  void input_closed();
  /// Appends what is to be written.
  void output(std::string& to);
  [[nodiscard]] pn_event_t* next_event() noexcept { return pn_connection_driver_next_event(&driver_); }
  /// Keeps idle timeouts; answers when it wants to be called again.
  std::optional<time_point> tick(time_point now);
  /// Why the transport failed, as "condition: description"; empty where it did not.
  [[nodiscard]] std::string failure() const;
  /// Whether SASL refused the login or found no mechanism.
  [[nodiscard]] bool login_refused() const noexcept;
  [[nodiscard]] peer_facts peer() const;
  [[nodiscard]] pn_connection_t* connection() const noexcept { return driver_.connection; }
  [[nodiscard]] pn_transport_t* transport() const noexcept { return driver_.transport; }

 private:
  [[nodiscard]] std::size_t feed(std::string_view input);
  pn_connection_driver_t driver_;
};

/// A condition as "name: description"; empty where it is not set.
[[nodiscard]] std::string text_of(pn_condition_t* condition);

/// `e`, with the peer's words where there are any.
[[nodiscard]] error with_words(error e, const std::string& words);

} // namespace millrace::amqp::detail
