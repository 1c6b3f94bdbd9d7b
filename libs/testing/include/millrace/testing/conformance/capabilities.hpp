#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::testing::conformance {

/// Where a broker runs while it is checked.
enum class run_mode : std::uint8_t {
  in_process, ///< `connect_in_process`, on a virtual clock that moves when nothing else can
  live,       ///< `connect`, on a pool of two threads and the real clock
};

[[nodiscard]] constexpr std::string_view name_of(run_mode mode) noexcept {
  return mode == run_mode::live ? "live" : "in_process";
}

/// What a broker says of itself in one mode. Each is checked: what is declared must work, and what is not declared must
/// be answered honestly (`errc::unsupported`, a count of 0), never by a success.
struct capabilities {
  bool settles = false;              ///< ack and drop reach the broker
  bool requeues = false;             ///< retry brings the message back
  bool delays = false;               ///< the transport delays a redelivery by itself
  bool counts_deliveries = false;    ///< the broker counts the deliveries of a message, from 1
  bool redelivers_unsettled = false; ///< a delivery that is destroyed unsettled comes back
  bool groups = false;               ///< subscriptions of one source share its messages
  bool shared = false;               ///< two connections reach the same broker
  bool stores = false;               ///< messages outlive the connection that published them; implies `shared`
  bool requests = false;             ///< the publisher sends requests
  bool refuses_unheard = false;      ///< a request that nobody listens to fails at once
  bool transactions = false;         ///< the publisher has transactions, one at a time (`transaction_kind::borrowed`)
  bool owned_transactions = false;   ///< any number of them beside each other (`transaction_kind::owned`)
};

} // namespace millrace::testing::conformance
