#pragma once

#include "transport/in_process/subscription.hpp"

#include <map>
#include <string>
#include <vector>

namespace millrace::nats::detail::in_process {

/// The subscriptions of the server, and who gets a message. Guarded by the server's lock; order is the order of
/// subscribing.
class router {
 public:
  void add(subscription_ptr s);
  void remove(const subscription& s) noexcept;
  /// Takes every subscription of the connection.
  [[nodiscard]] std::vector<subscription_ptr> remove_all(std::uint64_t connection);

  /// Queues the message for every plain subscription and for one member of each group, a group being its name alone
  /// (nats 3.1). Subscriptions of `except` do not hear it. False: nobody did.
  bool route(std::string_view subject, const envelope& e, std::uint64_t except = 0);
  /// "No responders", for the first plain subscription of the publisher's own connection that hears `reply`.
  void answer_no_responders(std::string_view reply, std::uint64_t connection);
  [[nodiscard]] bool has_interest(std::string_view subject) const noexcept;

  /// The subscriptions that got something since the last call; the caller delivers outside the lock.
  [[nodiscard]] std::vector<subscription_ptr> take_touched() noexcept;

 private:
  void push(const subscription_ptr& s, const envelope& e);
  void push_to_groups(const envelope& e);

  std::vector<subscription_ptr> subscriptions_;
  std::vector<subscription_ptr> touched_;
  std::vector<const subscription_ptr*> members_; ///< of the message being routed
  std::map<std::string, std::uint64_t, std::less<>> turns_;
};

} // namespace millrace::nats::detail::in_process
