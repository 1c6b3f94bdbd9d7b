#pragma once

#include "transport/in_process/alarm.hpp"
#include "transport/in_process/in_process_transport.hpp"
#include "transport/in_process/jetstream.hpp"
#include "transport/in_process/router.hpp"

#include <mutex>

namespace millrace::nats::detail {

/// One lock around routing and JetStream; receivers are called outside it.
class in_process_server final : public std::enable_shared_from_this<in_process_server>,
                                private in_process::jetstream_host {
 public:
  in_process_server(runtime& rt, const in_process_server_options& options);
  ~in_process_server() override;

  /// Must be called once, by the maker.
  void watch_clock();

  [[nodiscard]] std::shared_ptr<in_process::connection_state> connect(bool echo);
  /// Takes every subscription of the connection away from the router.
  [[nodiscard]] std::vector<in_process::subscription_ptr> disconnect(const in_process::connection_state& from);
  void publish(const in_process::connection_state& from, const in_process::message_ptr& m, std::string_view reply);
  [[nodiscard]] in_process::subscription_ptr subscribe(std::shared_ptr<in_process::connection_state> owner,
                                                       std::string_view subject, std::string_view queue, receiver& to);
  void unsubscribe(const in_process::subscription& s);
  [[nodiscard]] runtime& clock() const noexcept { return *runtime_; }

 private:
  time_point now() const noexcept override;
  std::int64_t unix_time(time_point at) const noexcept override;
  void send(std::string_view to, in_process::envelope e) override;
  bool has_interest(std::string_view subject) const noexcept override;
  in_process::store_limits limits() const noexcept override;

  void on_clock();
  /// Ends what a locked step began: unlocks, and calls the receivers.
  void finish(std::unique_lock<std::mutex> lock);

  runtime* runtime_;
  in_process_server_options options_;
  std::mutex mutex_;
  std::uint64_t connections_ = 0;
  in_process::router router_;
  in_process::jetstream jetstream_;
  std::shared_ptr<in_process::alarm> alarm_;
};

} // namespace millrace::nats::detail
