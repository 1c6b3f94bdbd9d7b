#pragma once

#include <millrace/middleware.hpp>
#include <millrace/resilience/idempotency_store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::resilience {

/// Calls the handler once for each message id, as far as the store remembers:
///  - An id that is done is acknowledged without a call.
///  - An id that another delivery is at is answered `retry_after` (`retry_in`).
///  - Else the id is claimed and the handler called. Its `ack` marks the id done before the message is settled; every
///    other answer, and an exception, gives the claim back.
///  - A message without an id is handled as if this were not there.
///  - A store that fails to claim: `retry_after`, the handler is not called. One that fails to mark what is done: an
///    error is logged and the answer stands.
///
/// What remains: a crash between the effect and the mark repeats the effect when the message comes again. A reply of
/// the handler (`reply`) is published after the mark: if that fails, the message comes again and is acknowledged, and
/// the reply is lost; publish it in the handler instead. A batch handler under it is refused at start: the whole batch
/// would be judged by its first element.
///
/// Thread-safe. Costs a coroutine, the store, and a string for the id.
class deduplicate final : public middleware {
 public:
  using id_function = std::function<std::string(const context&)>;

  /// The id is in the header "message-id".
  explicit deduplicate(std::shared_ptr<idempotency_store> store);
  deduplicate& id_from_header(std::string name);
  /// An empty id: none.
  deduplicate& id_from(id_function of);
  /// Ids count apart in each scope. Default: the registration's name, so that several registrations, and all instances
  /// of a service, can share a store.
  deduplicate& scope(std::string name);
  /// When a message comes again whose id is in progress, or that the store could not judge. Default: 1 s.
  deduplicate& retry_in(duration delay);

  task<outcome> around(context& ctx, next_handler next) override;
  [[nodiscard]] std::string_view refuses_batches() const noexcept override;

 private:
  [[nodiscard]] std::string key_of(const context& ctx) const;

  std::shared_ptr<idempotency_store> store_;
  id_function id_of_;
  std::optional<std::string> scope_;
  duration retry_in_ = std::chrono::seconds(1);
};

} // namespace millrace::resilience
