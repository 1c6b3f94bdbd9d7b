#pragma once

#include <chrono>
#include <thread>

namespace millrace::nats::test {

/// Asks again until `done`, at most for `bound`: for what a server or a process tells nobody of. Answers the last
/// `done()`.
template <class Done> bool poll(Done done, std::chrono::milliseconds bound) {
  const auto until = std::chrono::steady_clock::now() + bound;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2)); // lint: allow sleep
  }
  return true;
}

} // namespace millrace::nats::test
