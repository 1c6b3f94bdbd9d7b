#pragma once

#include <millrace/broker.hpp>
#include <millrace/delivery.hpp>
#include <millrace/event.hpp>

#include <memory>
#include <mutex>
#include <optional>

namespace millrace {

/// Consumes one source without a service: `next` hands out one delivery after the other. What waits here is bounded by
/// the broker's window. One coroutine at a time waits.
class receiver final : private sink {
 public:
  explicit receiver(runtime& rt) noexcept : runtime_(&rt), arrived_(rt) {}
  ~receiver();

  /// The next message; `errc::timeout` after `bound`; the reason if the subscription ended.
  task<result<delivery>> next(duration bound);
  /// No message arrives any more; what waits here goes back to the broker.
  task<void> stop();
  /// The broker said that its consumer is absent now.
  [[nodiscard]] bool interrupted() const noexcept;
  /// Messages that were lost because this receiver was too slow.
  [[nodiscard]] std::uint64_t dropped() const noexcept;
  /// Settlements that the broker took and refused later: their messages come again.
  [[nodiscard]] std::uint64_t refused() const noexcept;

 private:
  template <class Connected, class Source>
  friend task<result<std::unique_ptr<receiver>>> open_receiver(runtime& rt, Connected& broker, Source source);

  void deliver(incoming_batch batch, deliver_from where) noexcept override;
  void interrupted(error why) noexcept override;
  void resumed() noexcept override;
  void ended(error why) noexcept override;
  void dropped(std::uint64_t count) noexcept override;
  void refused(std::uint64_t count, error why) noexcept override;

  runtime* runtime_;
  mutable std::mutex mutex_;
  incoming_batch waiting_;
  std::optional<error> ended_;
  bool absent_ = false;
  std::uint64_t dropped_ = 0;
  std::uint64_t refused_ = 0;
  event arrived_;
  std::unique_ptr<subscription_port> port_;
};

/// Opens `source` on a connected broker. The receiver must be destroyed before its runtime.
template <class Connected, class Source>
task<result<std::unique_ptr<receiver>>> open_receiver(runtime& rt, Connected& broker, Source source) {
  auto made = std::make_unique<receiver>(rt);
  open_options options;
  options.subscription = source.name();
  auto opened = co_await broker.open(source, *made, options);
  if (!opened) co_return fail(std::move(opened).error());
  made->port_ = std::move(*opened);
  co_return made;
}

} // namespace millrace
