#pragma once

#include "protocol/method.hpp"

#include <millrace/broker.hpp>
#include <millrace/rabbitmq/errors.hpp>
#include <millrace/rabbitmq/queue.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail {

/// One request on the subscription's channel and the answer that it waits for.
struct opening_step {
  method answer = method::none;
  std::string frame; ///< to be addressed to the channel
  std::string what;  ///< for errors: "queue 'orders'"
  errc kind = errc::subscribe;
  bool verifying = false;
};

/// What the broker adds to a descriptor.
struct opening_defaults {
  topology mode = topology::assume;
  std::optional<std::uint16_t> prefetch;
};

/// The steps of lifecycle R2 that follow the channel's opening, in order. The checks of R2.1 come first: an error here
/// means that nothing is sent.
[[nodiscard]] result<std::vector<opening_step>> plan_opening(const queue_spec& queue, const open_options& options,
                                                             const opening_defaults& defaults);

/// Walks a plan over an open channel; the same plan opens the subscription again after a loss.
class opening_machine {
 public:
  enum class progress : std::uint8_t { more, done, unexpected };

  explicit opening_machine(std::vector<opening_step> plan) : plan_(std::move(plan)) {}

  /// channel.open-ok came. Appends the first step.
  void begin(std::uint16_t channel, std::string& out);
  [[nodiscard]] progress on_answer(method what, std::string& out);
  /// The server closed the channel, or the connection went, while the current step waited.
  [[nodiscard]] error refused(std::uint16_t code, std::string_view text) const;
  [[nodiscard]] bool done() const noexcept { return at_ == plan_.size(); }

 private:
  void send(std::string& out);
  std::vector<opening_step> plan_;
  std::size_t at_ = 0;
  std::uint16_t channel_ = 0;
};

} // namespace millrace::rabbitmq::detail
