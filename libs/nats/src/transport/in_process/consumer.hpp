#pragma once

#include "transport/in_process/ack_ledger.hpp"
#include "transport/in_process/consumer_config.hpp"
#include "transport/in_process/message_store.hpp"
#include "transport/in_process/pull_queue.hpp"

namespace millrace::nats::detail::in_process {

/// What CONSUMER.INFO tells of a consumer's position.
struct consumer_position {
  std::uint64_t consumer_sequence = 0;
  std::uint64_t stream_sequence = 0;
  std::uint64_t floor_consumer_sequence = 0;
  std::uint64_t floor_stream_sequence = 0;
  std::size_t ack_pending = 0;
  std::size_t redelivered = 0;
  std::size_t waiting = 0;
  std::uint64_t pending = 0;
};

/// A pull consumer: a cursor into the stream's store, a ledger of what is unsettled, and the pull requests that wait.
class consumer {
 public:
  consumer(jetstream_host& host, const message_store& store, std::string_view stream, std::string_view name,
           consumer_config config);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const consumer_config& config() const noexcept { return config_; }
  [[nodiscard]] std::int64_t created() const noexcept { return created_; }
  [[nodiscard]] consumer_position position() const;
  void update(consumer_config config);

  void pull(std::string_view reply, std::string_view payload);
  /// `payload` is what the client sent to the ack subject of the delivery of `sequence`. True: it wants no
  /// confirmation.
  bool acknowledge(std::uint64_t sequence, std::string_view payload, std::string_view reply);
  void on_stored(const message& m);
  void on_dropped(std::uint64_t sequence, const message& m);
  void on_clock();
  void on_deleted() { pulls_.end_all("409", "Consumer Deleted"); }
  /// Nobody pulled for the inactive threshold.
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;

 private:
  struct candidate {
    std::uint64_t sequence;
    bool again;
  };
  void start_at_policy();
  void start_at_last_per_subject();
  [[nodiscard]] bool selects(const message& m) const noexcept;
  [[nodiscard]] std::uint64_t count_pending() const;
  [[nodiscard]] std::uint64_t delivered_to() const noexcept;
  [[nodiscard]] duration wait_after(std::int64_t deliveries) const noexcept;
  [[nodiscard]] bool admit(const pull_request& r, std::string_view reply);
  void refuse(std::string_view reply, std::string_view code, std::string_view description);
  void negative(std::uint64_t sequence, std::string_view argument);

  void pump();
  [[nodiscard]] bool at_ack_limit() const noexcept;
  [[nodiscard]] std::optional<candidate> next_candidate();
  [[nodiscard]] std::optional<candidate> next_again();
  [[nodiscard]] std::optional<candidate> next_fresh();
  [[nodiscard]] bool deliver(const candidate& c);
  void advance_past(std::uint64_t sequence);
  void clean_inactive();

  jetstream_host* host_;
  const message_store* store_;
  std::string stream_;
  std::string name_;
  consumer_config config_;
  std::int64_t created_;
  ack_ledger ledger_;
  pull_queue pulls_;
  std::deque<std::uint64_t> listed_; ///< last_per_subject: these come before `next_`
  std::uint64_t next_ = 1;           ///< the first sequence that was not looked at
  std::uint64_t delivered_ = 0;      ///< consumer sequence
  std::uint64_t pending_ = 0;        ///< selected and not yet delivered once
  time_point active_;                ///< of the last request
  bool abandoned_ = false;
};

} // namespace millrace::nats::detail::in_process
