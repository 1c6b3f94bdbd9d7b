#include <millrace/log.hpp>
#include <millrace/resilience/deduplicate.hpp>

#include <exception>
#include <utility>

namespace millrace::resilience {
namespace {

constexpr char separator = '\x1f'; // of scope and id: no name or id has it

void report(log_level level, const context& ctx, const char* what, const error& why) {
  log(level, "subscription '" + std::string(ctx.subscription()) + "': " + what + ": " + why.message());
}

} // namespace

deduplicate::deduplicate(std::shared_ptr<idempotency_store> store) : store_(std::move(store)) {
  id_from_header("message-id");
}

deduplicate& deduplicate::id_from_header(std::string name) {
  return id_from([header = std::move(name)](const context& ctx) {
    return std::string(ctx.headers().get(header).value_or(std::string_view()));
  });
}

deduplicate& deduplicate::id_from(id_function of) {
  id_of_ = std::move(of);
  return *this;
}

deduplicate& deduplicate::scope(std::string name) {
  scope_ = std::move(name);
  return *this;
}

deduplicate& deduplicate::retry_in(duration delay) {
  retry_in_ = delay;
  return *this;
}

std::string_view deduplicate::refuses_batches() const noexcept {
  return "deduplicate judges one message: wrap a handler of single messages";
}

std::string deduplicate::key_of(const context& ctx) const {
  std::string id = id_of_(ctx);
  if (id.empty()) return id;
  std::string key(scope_ ? std::string_view(*scope_) : ctx.subscription());
  key += separator;
  key += id;
  return key;
}

task<outcome> deduplicate::around(context& ctx, next_handler next) {
  const std::string key = key_of(ctx);
  if (key.empty()) {
    outcome answer = co_await next();
    co_return answer;
  }
  const auto claimed = co_await store_->try_claim(key, ctx.runtime().now());
  if (!claimed) {
    report(log_level::warning, ctx, "the idempotency store failed, the message is delivered again", claimed.error());
    co_return millrace::retry_after(retry_in_);
  }
  if (claimed->state == claim_state::done) co_return millrace::ack();
  if (claimed->state == claim_state::in_progress) co_return millrace::retry_after(retry_in_);

  outcome answer = millrace::retry();
  std::exception_ptr thrown;
  try {
    answer = co_await next();
  } catch (...) {
    thrown = std::current_exception();
  }
  if (!thrown && answer.kind() == settlement_kind::ack) {
    const auto kept = co_await store_->complete(key, ctx.runtime().now());
    if (!kept) report(log_level::error, ctx, "what a handler did is not in the idempotency store", kept.error());
    co_return answer;
  }
  const auto gone = co_await store_->forget(key, claimed->ticket);
  if (!gone) report(log_level::warning, ctx, "a claim stays until its lease ends", gone.error());
  if (thrown) std::rethrow_exception(thrown);
  co_return answer;
}

} // namespace millrace::resilience
