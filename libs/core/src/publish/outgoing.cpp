#include <millrace/outgoing.hpp>

namespace millrace {

void publish_operation::complete(result<receipt> answer) noexcept {
  answer_ = std::move(answer);
  if (state_.exchange(state::done, std::memory_order_acq_rel) == state::waiting) runtime_->post(*this);
}

bool publish_operation::wait(std::coroutine_handle<> waiter) noexcept {
  waiter_ = waiter;
  auto expected = state::started;
  return state_.compare_exchange_strong(expected, state::waiting, std::memory_order_acq_rel);
}

task<result<reply_message>> publish_port::request(outgoing message, duration /*timeout*/) {
  co_return fail(errc::unsupported, "request to '" + std::string(message.destination) + "'");
}

task<result<std::unique_ptr<transaction_port>>> publish_port::begin(transaction_kind /*kind*/) {
  co_return fail(errc::unsupported, "begin a transaction");
}

} // namespace millrace
