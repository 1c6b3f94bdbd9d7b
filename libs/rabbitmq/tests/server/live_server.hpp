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

/// A server, as the line of JSON of tools/with-rabbitmq describes it.
class described_server {
 public:
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  /// Where the server's files are: ca.pem, client.pem and client.key among them.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// Evaluates Erlang on the server, as `rabbitmqctl eval` does in a hundredth of the CPU, and answers the value's
  /// text. No apostrophes.
  std::string eval(const std::string& expression) const;
  /// The same for every connection of that name: its items as a list `Is`, in the order of `items`.
  std::string eval_connection(const std::string& name, const std::string& items, const std::string& expression) const;
  void delete_queue(const std::string& name) const;
  /// How many it holds; what is not a number if there is no such queue.
  [[nodiscard]] std::string messages(const std::string& queue) const;

 protected:
  void described(const std::string& json);

 private:
  /// The same for one queue, `Q`.
  [[nodiscard]] std::string eval_queue(const std::string& name, const std::string& expression) const;
  std::string url_;
  std::string folder_;
  std::string node_;
  std::string epmd_;
};

/// The rabbitmq-server that all tests share; tools/with-rabbitmq starts it before the first of them.
class live_server : public described_server {
 public:
  static live_server& shared();
  /// The same server over TLS.
  [[nodiscard]] const std::string& tls_url() const noexcept { return tls_url_; }
  [[nodiscard]] std::uint16_t port() const;

 private:
  live_server();
  [[nodiscard]] bool hold(const std::string& json);
  std::string tls_url_;
};

/// A second server, lent to one test at a time, which may harm it.
class fragile_server : public described_server {
 public:
  fragile_server();
  ~fragile_server();
  fragile_server(const fragile_server&) = delete;
  fragile_server& operator=(const fragile_server&) = delete;
  void kill() { order("kill"); }     ///< SIGKILL; returns when it is dead
  void start() { order("start"); }   ///< returns when it listens again
  void pause() { order("pause"); }   ///< SIGSTOP: connections stay and nothing answers
  void resume() { order("resume"); } ///< SIGCONT
  /// Returns when every queue that was declared is on the disk: by itself, a server writes a declaration down to two
  /// seconds after it answered it, and one that is killed before has no such queue any more.
  void write_declarations() const { (void)eval("mnesia:sync_log()"); }

 private:
  void order(const std::string& what);
  std::string line();
  int socket_ = -1;
  pid_t tool_ = -1;
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
  std::string first_told();
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
    return stopped_at_the_end(sync_wait(connected_->open(source, to, options)));
  }
  template <class Policy> std::shared_ptr<publish_port> pair(const Policy& policy) { return *connected_->pair(policy); }
  result<receipt> send(publish_port& to, const std::string& destination, const std::string& text,
                       const header_map* headers = nullptr, const message_options* options = nullptr);
  result<closed_broker> shutdown();
  /// A queue that goes with its last consumer, declared by opening and stopping a consumer.
  static queue temporary(const std::string& name);

  pool_runtime rt{2};

 private:
  static open_result stopped_at_the_end(open_result opened);
  result<connected_broker> connected_;
};

/// Settles and releases; answers whether the settlement was taken.
bool settle(incoming* m, settlement_kind kind = settlement_kind::ack, duration delay = {});

} // namespace millrace::rabbitmq::testing
