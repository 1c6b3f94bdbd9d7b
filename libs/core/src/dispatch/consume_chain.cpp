#include "dispatch/consume_chain.hpp"

#include "dispatch/chained_call.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace millrace {

consume_chain::consume_chain(detail::consume_links links)
    : links_(std::move(links)),
      suspends_(std::ranges::any_of(links_, [](const auto& l) { return l.suspending != nullptr; })) {
  if (suspends_) return;
  for (const auto& link : links_)
    plain_.push_back(link.plain.get());
}

void consume_chain::failed(context& ctx, std::string_view what, interceptors ran) noexcept {
  while (ran.last != ran.first)
    (*--ran.last)->failed(ctx, what);
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
