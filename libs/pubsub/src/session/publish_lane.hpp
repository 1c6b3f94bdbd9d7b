#pragma once

#include <millrace/outgoing.hpp>
#include <millrace/runtime.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millrace::pubsub::detail {

/// Messages that share one request, and who waits for them.
struct publish_batch {
  std::string body; ///< the request, while it is filled
  std::vector<publish_operation*> waiting;
  std::size_t bytes = 0; ///< of the messages
  [[nodiscard]] bool empty() const noexcept { return waiting.empty(); }
};

/// A request that is sent, or waits for its turn or its next attempt.
struct publish_request {
  std::uint64_t id = 0;
  std::shared_ptr<const std::string> body;
  std::vector<publish_operation*> waiting;
  std::size_t bytes = 0;
  std::string key;
  unsigned failures = 0;
  time_point give_up_at{};
  time_point due{}; ///< the next attempt; unset: not waiting for one
};

/// The same messages in two requests, in order. Of one that has at least two.
[[nodiscard]] std::pair<std::unique_ptr<publish_request>, std::unique_ptr<publish_request>>
halves_of(const publish_request& whole);

/// What is published without a key, or under one key: one batch that fills, and requests in order.
struct publish_lane {
  publish_batch filling;
  time_point send_at{}; ///< of the filling batch
  std::deque<std::unique_ptr<publish_request>> ready;
  std::size_t in_flight = 0;
  [[nodiscard]] bool idle() const noexcept { return filling.empty() && ready.empty() && in_flight == 0; }
};

} // namespace millrace::pubsub::detail
