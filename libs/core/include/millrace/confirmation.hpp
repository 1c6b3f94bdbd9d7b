#pragma once

#include <millrace/error.hpp>
#include <millrace/event.hpp>
#include <millrace/task.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace millrace {

/// What a broker says of one settlement after it was handed over (exactly-once Pub/Sub). The broker answers once, from
/// any thread; one coroutine waits.
class confirmation {
 public:
  explicit confirmation(runtime& rt) noexcept : answered_(rt) {}

  /// The settlement is done.
  void confirm() noexcept { answered_.set(); }
  /// It is not: the message comes again.
  void refuse(error why) noexcept {
    refused_ = std::move(why);
    answered_.set();
  }

  /// The broker's answer. `from` may be null: there is nothing to wait for.
  [[nodiscard]] static task<result<void>> answer(std::shared_ptr<confirmation> from);

 private:
  std::optional<error> refused_;
  event answered_;
};

} // namespace millrace
