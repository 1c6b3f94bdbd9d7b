#include "dispatch/consume_chain.hpp"

#include "dispatch/chained_call.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace millrace {

consume_chain::consume_chain(detail::consume_links links)
    : links_(std::move(links)),
      suspends_(std::ranges::any_of(links_, [](const auto& l) { return l.suspending != nullptr; })) {}

std::optional<outcome> consume_chain::before(context& ctx, std::size_t& ran) const {
  for (ran = 0; ran < links_.size(); ++ran) {
    if (auto stop = links_[ran].plain->before(ctx)) return stop;
  }
  return std::nullopt;
}

void consume_chain::after(context& ctx, outcome& answer, std::size_t ran) const {
  while (ran > 0)
    links_[--ran].plain->after(ctx, answer);
}

void consume_chain::failed(context& ctx, std::string_view what, std::size_t ran) const noexcept {
  while (ran > 0)
    links_[--ran].plain->failed(ctx, what);
}

task<outcome> chain_run::call(std::size_t position) {
  const auto& links = chain_->links();
  if (position == links.size()) return middle_->invoke();
  if (links[position].plain) return intercept(*links[position].plain, position);
  return links[position].suspending->around(*ctx_, next_handler(*this, position + 1));
}

task<outcome> chain_run::intercept(interceptor& part, std::size_t position) {
  auto stop = part.before(*ctx_);
  if (stop) co_return std::move(*stop);
  try {
    outcome answer = co_await call(position + 1);
    part.after(*ctx_, answer);
    co_return answer;
  } catch (...) {
    part.failed(*ctx_, current_exception_text());
    throw;
  }
}

std::string current_exception_text() {
  try {
    throw;
  } catch (const undecodable_message& m) {
    return m.why.message();
  } catch (const operation_cancelled&) {
    return "the stopping service gave a wait up";
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

} // namespace millrace
