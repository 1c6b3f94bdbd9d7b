#pragma once

#include "message.hpp"

#include <millrace/event.hpp>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace millrace::memory {

/// One subscriber of a mailbox. Guarded by the hub's mutex.
class consumer {
 public:
  consumer(sink& to, runtime& rt, std::size_t window, std::size_t workers, mailbox& box) noexcept
      : target(&to), window(window), refill(window >= 2 * workers ? window / 2 : window - 1), box(&box), quiet(rt) {}
  [[nodiscard]] std::size_t room() const noexcept { return closed || in_flight >= window ? 0 : window - in_flight; }

  sink* target;
  std::size_t window;
  std::size_t refill; ///< while more are out than this, the next hand-over waits: fewer, larger batches
  std::size_t in_flight = 0;
  mailbox* box;
  incoming_batch outbox;   ///< taken from the mailbox, not yet handed over
  bool delivering = false; ///< a thread is handing over; others leave it the outbox
  std::thread::id deliverer;
  bool closed = false;
  bool gone = false; ///< its subscription was destroyed
  event quiet;       ///< closed, and no thread hands over
};

/// The queue of one subscription, or of one group. Guarded by the hub's mutex.
class mailbox {
 public:
  mailbox(std::string topic, std::string group) : topic(std::move(topic)), group(std::move(group)) {}

  /// The next consumer with room, in rotation, or null.
  [[nodiscard]] consumer* next_consumer() noexcept;

  std::string topic;
  std::string group; ///< empty: a private mailbox, gone with its subscription
  incoming_batch ready;
  std::size_t held = 0; ///< ready, delayed or in flight
  std::vector<consumer*> consumers;
  std::size_t rotation = 0;
  unsigned pumping = 0;  ///< calls of `hub::pump` that are at it
  bool orphaned = false; ///< its subscription is gone; dies with its last node
};

} // namespace millrace::memory
