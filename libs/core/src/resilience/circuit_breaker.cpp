#include <millrace/resilience/circuit_breaker.hpp>

#include "dispatch/chained_call.hpp"
#include "resilience/circuit_machine.hpp"

#include <utility>

namespace millrace::resilience {
namespace {

using ending = circuit_machine::ending;

/// Gives the admission back, whatever happens to the frame that holds it.
class admitted {
 public:
  admitted(circuit_machine& machine, const std::function<void(circuit)>& tell, millrace::runtime& rt,
           std::uint64_t epoch) noexcept
      : machine_(&machine), tell_(&tell), runtime_(&rt), epoch_(epoch) {}
  admitted(const admitted&) = delete;
  admitted& operator=(const admitted&) = delete;
  ~admitted() {
    const auto changed = machine_->ended(epoch_, how, runtime_->now());
    if (changed && *tell_) (*tell_)(*changed);
  }

  ending how = ending::nothing;

 private:
  circuit_machine* machine_;
  const std::function<void(circuit)>* tell_;
  millrace::runtime* runtime_;
  std::uint64_t epoch_;
};

ending judged(const outcome& answer) noexcept {
  const bool again = answer.kind() == settlement_kind::retry || answer.kind() == settlement_kind::retry_after;
  return again ? ending::failure : ending::success;
}

} // namespace

circuit_breaker::circuit_breaker(circuit_breaker_options options)
    : machine_(std::make_shared<circuit_machine>(options)) {}

circuit circuit_breaker::state() const noexcept { return machine_->state(); }

std::uint64_t circuit_breaker::times_opened() const noexcept { return machine_->times_opened(); }

circuit_breaker& circuit_breaker::on_change(std::function<void(circuit)> tell) {
  tell_ = std::move(tell);
  return *this;
}

task<outcome> circuit_breaker::around(context& ctx, next_handler next) {
  millrace::runtime& rt = ctx.runtime();
  const auto entry = machine_->admit(rt.now());
  if (entry.changed && tell_) tell_(*entry.changed);
  if (!entry.granted) co_return millrace::retry_after(entry.wait);
  admitted turn(*machine_, tell_, rt, entry.epoch);
  try {
    outcome answer = co_await next();
    turn.how = judged(answer);
    co_return answer;
  } catch (const undecodable_message&) {
    throw;
  } catch (const operation_cancelled&) {
    throw;
  } catch (...) {
    turn.how = ending::failure;
    throw;
  }
}

} // namespace millrace::resilience
