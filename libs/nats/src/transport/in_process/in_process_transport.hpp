#pragma once

#include "transport/transport.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace millrace::nats::detail {

/// What the in-process mode reads of the connection options.
struct in_process_options {
  bool no_echo = false; ///< own publishes are not heard, and own responders do not count
  std::string inbox_prefix = "_INBOX";
};

/// A nats-server in this process, without sockets: core routing and the part of JetStream that the client uses. It
/// lives as long as its connections. `in_process/README.md` lists what it models and where it differs.
class in_process_server;

struct in_process_server_options {
  /// Added to the injected clock it gives the Unix time of stored messages. On a virtual clock 0 is as good as any.
  duration unix_offset{0};
  /// Of each stream; beyond them its oldest messages go.
  std::size_t stream_messages = 1'000'000;
  std::size_t stream_bytes = 256UL * 1024 * 1024;
};

[[nodiscard]] std::shared_ptr<in_process_server> make_in_process_server(runtime& rt,
                                                                        const in_process_server_options& options = {});

/// One more connection to `server`. `listener` is told of `close` only, on the closing thread; it outlives the
/// transport.
[[nodiscard]] std::shared_ptr<transport> make_in_process_transport(std::shared_ptr<in_process_server> server,
                                                                   const in_process_options& options,
                                                                   connection_listener& listener);

/// One connection to a server of its own. Messages reach their receivers on the publisher's thread before `publish`
/// returns, unless a receiver is inside its callback already: then that thread goes on with them.
[[nodiscard]] std::shared_ptr<transport> make_in_process_transport(runtime& rt, const in_process_options& options,
                                                                   connection_listener& listener);

} // namespace millrace::nats::detail
