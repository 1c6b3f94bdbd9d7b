#pragma once

#include <millrace/event.hpp>
#include <millrace/pool_runtime.hpp>
#include <millrace/rabbitmq.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

/// The rabbitmq-server that all tests share; tools/with-rabbitmq starts it with the first of them.
class live_server {
 public:
  static live_server& shared();
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  /// The same server over TLS.
  [[nodiscard]] const std::string& tls_url() const noexcept { return tls_url_; }
  /// Where the server's files are: ca.pem, client.pem and client.key among them.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] std::uint16_t port() const;
  /// Runs rabbitmqctl and answers what it printed.
  std::string ctl(const std::string& arguments);

 private:
  live_server();
  std::string url_;
  std::string tls_url_;
  std::string folder_;
};

/// A second server, lent to one test at a time, which may harm it.
class fragile_server {
 public:
  fragile_server();
  ~fragile_server();
  fragile_server(const fragile_server&) = delete;
  fragile_server& operator=(const fragile_server&) = delete;
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  void kill() { order("kill"); }     ///< SIGKILL; returns when it is dead
  void start() { order("start"); }   ///< returns when it listens again
  void pause() { order("pause"); }   ///< SIGSTOP: connections stay and nothing answers
  void resume() { order("resume"); } ///< SIGCONT
  std::string ctl(const std::string& arguments);

 private:
  void order(const std::string& what);
  std::string line();
  int socket_ = -1;
  pid_t tool_ = -1;
  std::string url_;
  std::string folder_;
};

/// A name that no other test uses.
std::string fresh_name(const std::string& prefix);

/// Keeps deliveries and what the subscription was told; a test waits for both.
class waiting_sink final : public sink {
 public:
  ~waiting_sink();
  void deliver(incoming_batch batch, deliver_from where) noexcept override;
  void interrupted(error why) noexcept override { tell("interrupted: " + why.message()); }
  void resumed() noexcept override { tell("resumed"); }
  void ended(error why) noexcept override { tell("ended: " + why.message()); }
  void dropped(std::uint64_t /*count*/) noexcept override {}

  /// The next delivery, or null after `bound`.
  incoming* next(std::chrono::milliseconds bound = std::chrono::seconds(20));
  /// Waits until something that begins so was told.
  bool told(const std::string& beginning, std::chrono::milliseconds bound = std::chrono::seconds(20));
  std::string last_told();

 private:
  void tell(std::string what);
  std::mutex mutex_;
  std::condition_variable changed_;
  incoming_batch held_;
  std::deque<std::string> told_;
};

/// A connected broker with a runtime of its own.
class client {
 public:
  explicit client(broker b) : connected_(sync_wait(std::move(b).connect(rt))) {}
  client() : client(broker(live_server::shared().url())) {}
  ~client();

  [[nodiscard]] bool connected() const noexcept { return connected_.has_value(); }
  [[nodiscard]] const error& failure() const { return connected_.error(); }
  [[nodiscard]] connected_broker& operator*() { return *connected_; }

  template <class Source> open_result open(const Source& source, sink& to, open_options options = {}) {
    if (options.subscription.empty()) options.subscription = source.name();
    return sync_wait(connected_->open(source, to, options));
  }
  template <class Policy> std::shared_ptr<publish_port> pair(const Policy& policy) { return *connected_->pair(policy); }
  result<receipt> send(publish_port& to, const std::string& destination, const std::string& text,
                       const header_map* headers = nullptr, const message_options* options = nullptr);
  result<closed_broker> shutdown();
  /// A queue that goes with its last consumer, declared by opening and stopping a consumer.
  static queue temporary(const std::string& name);

  pool_runtime rt{2};

 private:
  result<connected_broker> connected_;
};

/// Settles and releases; answers whether the settlement was taken.
bool settle(incoming* m, settlement_kind kind = settlement_kind::ack, duration delay = {});

} // namespace millrace::rabbitmq::testing
