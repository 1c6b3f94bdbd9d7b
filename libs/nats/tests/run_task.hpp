#pragma once

#include <millrace/task.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace millrace::nats::test {

/// Runs a task to its end, blocking this thread: for tests on a runtime with threads of its own.
template <class T> T run(task<T> work) {
  struct end_of_task : completion {
    end_of_task()
        : completion([](completion& c) noexcept {
            auto& self = static_cast<end_of_task&>(c);
            const std::lock_guard lock(self.mutex);
            self.over = true;
            self.changed.notify_all();
          }) {}
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
  } end;
  work.start(end);
  {
    std::unique_lock lock(end.mutex);
    if (!end.changed.wait_for(lock, std::chrono::seconds(60), [&] { return end.over; }))
      throw std::runtime_error("the task does not end");
  }
  return work.take();
}

} // namespace millrace::nats::test
