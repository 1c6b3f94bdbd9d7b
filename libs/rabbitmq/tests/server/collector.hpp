#pragma once

#include "server/live_server.hpp"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <thread>

namespace millrace::rabbitmq::testing {

/// Acknowledges what comes, on a thread of its own, until `n` different bodies came.
class collector {
 public:
  collector(waiting_sink& from, std::size_t n)
      : thread_([this, &from, n] {
          while (seen_.size() < n) {
            incoming* m = from.next(std::chrono::seconds(40));
            if (m == nullptr) return;
            seen_.emplace(as_text(m->payload()));
            (void)settle(m); // after a cut: an error, and the message comes again
          }
        }) {}
  const std::set<std::string>& wait() {
    thread_.join();
    return seen_;
  }

 private:
  std::set<std::string> seen_;
  std::thread thread_;
};

} // namespace millrace::rabbitmq::testing
