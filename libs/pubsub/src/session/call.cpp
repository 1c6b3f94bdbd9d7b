#include "session/call.hpp"

#include <millrace/event.hpp>
#include <millrace/resilience/backoff.hpp>

#include <algorithm>

namespace millrace::pubsub::detail {
namespace {

struct pending_answer {
  explicit pending_answer(runtime& rt) : done(rt) {}
  call_answer answer;
  event done;
};

task<call_answer> call_once(transport& wire, runtime& clock, const call_request& request) {
  const auto pending = std::make_shared<pending_answer>(clock);
  wire.call(request, [pending](call_answer answer) {
    pending->answer = std::move(answer);
    pending->done.set();
  });
  // The call has its own deadline; this bound is for a transport that does not keep it.
  const bool in_time = co_await pending->done.wait_until(clock.now() + request.bound + std::chrono::seconds(5));
  if (!in_time) {
    call_answer late;
    late.status.code = status_code::deadline_exceeded;
    co_return late;
  }
  co_return std::move(pending->answer);
}

} // namespace

duration pause_after(unsigned failures) noexcept {
  static const resilience::backoff schedule =
      resilience::backoff::exponential(std::chrono::milliseconds(100), std::chrono::seconds(30)).equal_jitter();
  return schedule.delay(std::max(1U, failures));
}

task<call_answer> call_until(transport& wire, runtime& clock, method which, std::string body, std::string routing,
                             time_point due, bool (*retries)(status_code) noexcept) {
  call_request request;
  request.which = which;
  request.body = std::make_shared<const std::string>(std::move(body));
  request.routing = routing;
  for (unsigned failures = 1;; ++failures) {
    request.bound = std::max<duration>(due - clock.now(), std::chrono::milliseconds(1));
    call_answer answer = co_await call_once(wire, clock, request);
    const duration pause = pause_after(failures);
    if (answer.status.ok() || !retries(answer.status.code) || clock.now() + pause >= due) co_return answer;
    co_await sleep_for(clock, pause);
  }
}

} // namespace millrace::pubsub::detail
