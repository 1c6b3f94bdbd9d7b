#pragma once

#include "session/alarm.hpp"
#include "session/leases.hpp"
#include "transport/transport.hpp"

#include <millrace/broker.hpp>
#include <millrace/event.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace millrace::pubsub::detail {

/// Pulls one subscription: hands what arrives to the sink, no more than the window holds, and opens the stream again
/// when it ends. A reason that does not pass (deleted, forbidden) ends the subscription.
class puller final : public std::enable_shared_from_this<puller> {
 public:
  puller(std::shared_ptr<connection> shared, pubsub::subscription source, std::shared_ptr<leases> held, sink& to);
  ~puller();

  /// Opens the stream. Waits until the service accepted it, or kept silent for a while, or refused it for good.
  /// `fresh`: the subscription was just created, and may not be known everywhere yet.
  [[nodiscard]] task<result<void>> start(bool fresh);
  /// No sink call runs and none begins; leases of what is held are kept. The server has ended the stream then, so that
  /// what goes back does not come to it once more; at most it takes a second.
  [[nodiscard]] task<void> stop();
  void abandon() noexcept;

  void on_released() noexcept;
  /// Acknowledgements were refused after all. False: the subscription has stopped, and nobody is told.
  [[nodiscard]] bool on_refused(std::uint64_t count, const error& why);

 private:
  /// One stream's events, so that those of an earlier one are not taken for those of the present.
  class listener;
  enum class phase : std::uint8_t { opening, live, waiting, ended, stopped };
  using lock = std::unique_lock<std::mutex>;

  void open_stream(lock& held);
  void on_sent(std::uint64_t stream) noexcept;
  void on_opened(std::uint64_t stream) noexcept;
  void on_response(std::uint64_t stream, shared_bytes response) noexcept;
  void on_closed(std::uint64_t stream, const call_status& why) noexcept;
  void proved_live(lock& held);
  void reopen(lock& held, const call_status& why);
  void end(lock& held, const call_status& why);
  void tell_interrupted(lock& held, const error& why);
  void silent_for_long(lock& held);
  void hand_over(lock& held, deliver_from where);
  void read_more();
  void begin_call(lock& held);
  void end_call(lock& held);
  void tick() noexcept;
  void halt(bool politely) noexcept;
  [[nodiscard]] bool passes(const call_status& why) const noexcept;
  [[nodiscard]] std::size_t room() const noexcept;
  [[nodiscard]] std::string first_request() const;

  const std::shared_ptr<connection> shared_;
  const pubsub::subscription source_;
  const std::shared_ptr<leases> leases_;
  sink& sink_;
  const std::string client_id_;
  const std::string routing_;
  const std::size_t window_;

  std::mutex mutex_;
  phase phase_ = phase::opening;
  std::shared_ptr<pull_stream> stream_;
  std::shared_ptr<pull_stream> closing_; ///< after the stop, until the server ended it
  std::uint64_t number_ = 0;             ///< of the present stream
  unsigned failures_ = 0;                ///< streams in a row that were not accepted
  unsigned denied_ = 0;                  ///< of them for the credentials
  bool fresh_ = false;
  bool interrupted_ = false;
  bool sent_ = false;    ///< the present stream's first request; there is a connection
  bool started_ = false; ///< `start` has answered; the sink may be told
  bool paused_ = false;  ///< too much is here: the next response is not asked for
  bool delivering_ = false;
  unsigned calls_ = 0; ///< of the sink, that run
  incoming_batch ready_;
  std::atomic<std::size_t> out_ = 0;    ///< handed over and not released
  std::atomic<std::size_t> behind_ = 0; ///< in `ready_`, or a read is paused
  std::optional<error> refused_;
  std::optional<error> last_failure_;
  time_point retry_at_{};
  time_point quiet_at_{};
  time_point keepalive_at_{};
  event decided_; ///< accepted or refused, for `start`
  event quiet_;   ///< no sink call runs
  event gone_;    ///< no stream is open
  alarm alarm_;
};

class pull_subscription final : public subscription_port {
 public:
  explicit pull_subscription(std::shared_ptr<puller> reader) noexcept : reader_(std::move(reader)) {}
  ~pull_subscription() override { reader_->abandon(); }
  [[nodiscard]] task<void> stop() override { return reader_->stop(); }

 private:
  std::shared_ptr<puller> reader_;
};

} // namespace millrace::pubsub::detail
