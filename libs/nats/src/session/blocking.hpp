#pragma once

#include "session/signal.hpp"

#include <millrace/task.hpp>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace millrace::nats::detail {

/// Tells the runtime of work that it cannot see, as long as it lives.
class external_work {
 public:
  explicit external_work(runtime& rt) noexcept : runtime_(rt) { runtime_.external_begin(); }
  external_work(const external_work&) = delete;
  external_work& operator=(const external_work&) = delete;
  ~external_work() { runtime_.external_end(); }

 private:
  runtime& runtime_;
};

/// Runs `work` on a thread of its own, so that a client call that blocks never holds a thread of the runtime, and
/// answers its result; nothing if `bound` ran out first: the thread then ends by itself, and its result is given up.
/// `work` owns what it uses. The runtime sees it as external work.
template <class Work>
task<std::optional<std::invoke_result_t<Work&>>> run_blocking(runtime& rt, duration bound, Work work) {
  struct shared_state {
    std::optional<std::invoke_result_t<Work&>> answer;
    std::shared_ptr<signal> done;
  };
  const auto state = std::make_shared<shared_state>();
  state->done = std::make_shared<signal>(rt);
  const external_work seen(rt);
  const std::shared_ptr<signal> done = state->done;
  std::thread([state, held = std::move(work)]() mutable {
    state->answer.emplace(held());
    state->done->set();
  }).detach();
  const bool in_time = co_await done->wait(bound);
  if (!in_time) co_return std::nullopt;
  co_return std::move(state->answer);
}

} // namespace millrace::nats::detail
