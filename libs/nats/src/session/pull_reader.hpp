#pragma once

#include "session/call_gate.hpp"
#include "session/fetch_machine.hpp"
#include "session/jetstream_delivery.hpp"
#include "session/pull_machine.hpp"

#include <millrace/broker.hpp>
#include <millrace/nats/sources.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace millrace::nats::detail {

/// Reads one JetStream consumer: pulls as its strategy advises, hands messages or batches to the sink, and supervises
/// the consumer. After a lost connection, missed heartbeats or a status that says so, it looks the consumer up. Still
/// there: it pulls anew. Not there: a durable ended (its position is lost, and to start over would replay the stream),
/// an ephemeral that was lost in an outage is created again behind what was settled. No answer: it asks again with
/// growing pauses, and health is red meanwhile.
class pull_reader final : public receiver,
                          public connection_observer,
                          public std::enable_shared_from_this<pull_reader> {
 public:
  pull_reader(std::shared_ptr<connection> shared, jetstream source, std::string consumer, sink& to,
              const open_options& options);

  /// Subscribes the inbox and sends the first pull.
  [[nodiscard]] result<void> start();
  [[nodiscard]] task<void> stop();
  /// Without waiting for what the inbox holds.
  void abandon() noexcept;

  void on_message(received message, bool more) noexcept override;
  void on_cut_short() noexcept override { hand_over_burst(); }
  void on_dropped(std::uint64_t count) noexcept override;
  void on_connection_lost(const error& why) noexcept override;
  void on_connection_restored() noexcept override;
  void on_connection_gone(const error& why) noexcept override;
  /// As many releases as the strategy wanted to hear of.
  void on_released() noexcept;

 private:
  enum class phase : std::uint8_t { running, asking, creating, waiting, lost, over };
  struct reader_timer : timer {
    reader_timer(pull_reader& r, void (pull_reader::*f)() noexcept) noexcept;
    pull_reader* reader;
    void (pull_reader::*fire_at)() noexcept;
  };
  struct api_answer final : reply_waiter {
    void on_reply(result<received> answer) noexcept override;
    std::shared_ptr<pull_reader> reader; ///< while it is asked
  };

  void take(received message) noexcept;
  void hand_over_burst() noexcept;
  /// After an outage: whether it stands behind all that came since. Of the first of them nothing is known.
  bool is_new(const received& message) noexcept;
  void on_status(unsigned code, const received& message) noexcept;
  void send_back(const received& message, std::string_view answer) noexcept;
  void gather(jetstream_delivery* message) noexcept;
  static void give_back(incoming_batch messages) noexcept;
  void hand_over(incoming_batch batch, deliver_from where) noexcept;
  void act(std::unique_lock<std::mutex>& lock, pull_action action,
           deliver_from where = deliver_from::anywhere) noexcept;
  void listen(pull_action& action) noexcept;
  void send_pull(const std::string& subject, const pull_action& action, std::uint32_t epoch) noexcept;
  void tick() noexcept;
  void expect_end(const pull_action& action) noexcept;
  void overdue() noexcept;
  void retry() noexcept;
  void verify(std::unique_lock<std::mutex>& lock) noexcept;
  void ask(std::unique_lock<std::mutex>& lock, phase next, const std::string& subject,
           const std::string& body) noexcept;
  void on_answer(result<received> answer) noexcept;
  void on_looked_up(std::unique_lock<std::mutex>& lock, const result<void>& found) noexcept;
  void on_created(std::unique_lock<std::mutex>& lock, result<std::string> created) noexcept;
  void recreate(std::unique_lock<std::mutex>& lock) noexcept;
  void go_on(std::unique_lock<std::mutex>& lock) noexcept;
  void wait_and_retry(std::unique_lock<std::mutex>& lock, const error& why) noexcept;
  void end(std::unique_lock<std::mutex>& lock, error why) noexcept;
  void interrupt(std::unique_lock<std::mutex>& lock, const error& why) noexcept;
  void halt() noexcept;
  [[nodiscard]] pull_totals totals() const noexcept;
  [[nodiscard]] std::string place() const;

  const std::shared_ptr<connection> shared_;
  const jetstream source_;
  const duration batch_wait_;
  sink& sink_;
  const deliver_from from_;
  const std::shared_ptr<pull_account> account_;
  jetstream_pool::owner pool_;
  call_gate gate_;
  std::string inbox_;
  std::unique_ptr<wire_subscription> wire_;
  incoming_batch burst_;                    ///< of the delivering thread: what came together goes on together
  std::uint64_t newest_ = 0;                ///< the last position that came after an outage; of the delivering thread
  std::atomic<std::uint64_t> received_ = 0; ///< written by the delivering thread
  std::atomic<std::uint64_t> dropped_ = 0;  ///< by the client
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> suspicious_ = false; ///< there was an outage: what was settled may come again

  std::mutex mutex_;
  const std::unique_ptr<pull_strategy> strategy_;
  fetch_machine* const fetches_; ///< the strategy, if the handler takes batches
  incoming_batch gathered_;      ///< of a batch that is not whole yet
  time_point end_due_{};         ///< when a request that does not last is over, whatever the server says
  std::uint32_t end_epoch_ = 0;
  bool end_armed_ = false;
  std::string consumer_;
  phase phase_ = phase::running;
  bool interrupted_ = false;
  bool deleted_ = false; ///< the server said so: not to be created again
  unsigned attempts_ = 0;
  request_mux::ticket ticket_;
  api_answer answer_;
  reader_timer tick_;
  reader_timer retry_;
  reader_timer end_;
};

class jetstream_subscription final : public subscription_port {
 public:
  explicit jetstream_subscription(std::shared_ptr<pull_reader> reader) noexcept : reader_(std::move(reader)) {}
  ~jetstream_subscription() override { reader_->abandon(); }
  [[nodiscard]] task<void> stop() override { return reader_->stop(); }

 private:
  std::shared_ptr<pull_reader> reader_;
};

/// STREAM.INFO, then the consumer, then the first pull (lifecycle N4).
[[nodiscard]] task<open_result> open_jetstream(std::shared_ptr<connection> shared, jetstream source, sink& to,
                                               open_options options);

} // namespace millrace::nats::detail
