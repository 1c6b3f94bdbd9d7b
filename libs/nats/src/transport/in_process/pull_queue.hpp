#pragma once

#include "transport/in_process/jetstream_host.hpp"

#include <deque>
#include <expected>
#include <optional>
#include <string>

namespace millrace::nats::detail::in_process {

/// One request of `CONSUMER.MSG.NEXT`.
struct pull_request {
  std::string reply;
  std::int64_t batch = 1;
  std::int64_t max_bytes = 0; ///< 0: unlimited
  std::optional<time_point> expires;
  duration heartbeat{0};
  time_point next_heartbeat{};
  bool no_wait = false;
  bool served = false;
};

/// An empty payload, a number, or JSON; or the server's words for why not.
[[nodiscard]] std::expected<pull_request, std::string> parse_pull_request(std::string_view payload, time_point now);

/// The requests that wait at a consumer, served in turn.
class pull_queue {
 public:
  explicit pull_queue(jetstream_host& host) noexcept : host_(&host) {}

  void add(pull_request r) { waiting_.push_back(std::move(r)); }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::int64_t messages_asked() const noexcept;
  [[nodiscard]] bool any_interest() const noexcept;

  /// The request that gets a message of `size` bytes, or null. Those that cannot take it are answered and leave.
  [[nodiscard]] pull_request* next(std::int64_t size);
  /// The request of `next` got its message.
  void served();
  /// Answers what is over: 408 at expiry, nothing where nobody listens any more, a heartbeat where one is due.
  void on_clock(std::string_view last_consumer, std::string_view last_stream);
  /// Ends the no-wait requests that got something: there is no more.
  void end_one_shots();
  void end_all(std::string_view code, std::string_view description);
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;

 private:
  void answer(const pull_request& r, std::string_view code, std::string_view description);
  /// With how much was still asked for.
  void answer_rest(const pull_request& r, std::string_view code, std::string_view description);
  [[nodiscard]] bool is_over(const pull_request& r, time_point now);

  jetstream_host* host_;
  std::deque<pull_request> waiting_;
};

} // namespace millrace::nats::detail::in_process
