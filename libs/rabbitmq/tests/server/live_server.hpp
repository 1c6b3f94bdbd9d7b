#pragma once

#include "support/connected_client.hpp"
#include "support/server_tool.hpp"
#include "support/waiting_sink.hpp"

#include <millrace/rabbitmq.hpp>

#include <string>

namespace millrace::rabbitmq::testing {

using test_support::fresh_name;
using test_support::settle;
using test_support::waiting_sink;

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

class client : public test_support::connected_client<connected_broker> {
 public:
  using connected_client::connected_client;
  client() : client(broker(live_server::shared().url())) {}

  template <class Source> open_result open(const Source& source, sink& to, open_options options = {}) {
    if (options.subscription.empty()) options.subscription = source.name();
    return stopped_at_the_end(sync_wait((**this).open(source, to, options)));
  }
  /// A queue that goes with its last consumer, declared by opening and stopping a consumer.
  static queue temporary(const std::string& name);

 private:
  static open_result stopped_at_the_end(open_result opened);
};

} // namespace millrace::rabbitmq::testing
