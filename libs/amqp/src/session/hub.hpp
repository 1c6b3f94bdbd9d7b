#pragma once

#include "protocol/message_out.hpp"
#include "session/outbox.hpp"
#include "session/peer.hpp"

#include <millrace/amqp/errors.hpp>
#include <millrace/amqp/options.hpp>
#include <millrace/event.hpp>
#include <millrace/net/transport.hpp>
#include <millrace/runtime.hpp>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millrace::amqp::detail {

class connection;
class sender;
struct consumer_seat;

/// How an operation on the I/O side ended, for the coroutine that waits.
struct outcome_of {
  explicit outcome_of(runtime& rt) noexcept : done(rt) {}
  event done;
  std::optional<error> failure;
  bool orderly = false; ///< of a close
};

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

/// What every handle of a connection shares and outlives it with: messages and settlements on their way to the I/O
/// side, which takes all of them at once.
class hub {
 public:
  hub(runtime& rt, broker_settings s, std::shared_ptr<net::transport> io);
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  runtime& clock;
  const broker_settings settings;
  const std::string container_id;
  /// How the names of links begin. Peers know a link by the container and its name (2.6.1 of the standard): two
  /// processes with one container id must not take each other's.
  const std::string link_prefix;

  std::mutex mutex;
  // Guarded by the mutex.
  bool closed = false; ///< set first by a shutdown (lifecycle L3)
  peer_facts peer;
  entry_pool entries;
  std::vector<std::shared_ptr<sender>> ready_senders;      ///< with something in their inboxes
  std::vector<std::shared_ptr<consumer_seat>> dirty_seats; ///< with settlements

  /// Hands a message to the sender of its destination; `op` is completed now or later. From any thread.
  void publish(node_kind kind, std::string_view destination, const outbound_message& message, time_point due,
               publish_operation& op, std::shared_ptr<open_work> transaction = nullptr) noexcept;

  /// With the mutex, after adding work. True: call `wake` once the mutex is free.
  [[nodiscard]] bool promise_flush() noexcept { return !std::exchange(flush_promised, true); }
  void wake() noexcept { io_->wake(); }
  /// True while the I/O side will look for work without being woken.
  bool flush_promised = false;

  using command = std::move_only_function<void(connection*)>;
  /// Runs on the I/O side, soon. False: the connection is over and the command is gone.
  bool post(command work);

  // For the connection.
  [[nodiscard]] std::vector<command> take_commands();
  /// No command is taken any more; answers those that did not run.
  [[nodiscard]] std::vector<command> end() noexcept;
  /// With the mutex.
  [[nodiscard]] bool has_work() const noexcept {
    return !ready_senders.empty() || !dirty_seats.empty() || !commands_.empty();
  }
  /// Takes a sender out, unless something arrived for it.
  [[nodiscard]] bool forget(sender& s) noexcept;

 private:
  using sender_map = std::unordered_map<std::string, std::shared_ptr<sender>, text_hash, std::equal_to<>>;
  const std::shared_ptr<sender>& sender_for(node_kind kind, std::string_view address);

  std::shared_ptr<net::transport> io_;
  std::vector<command> commands_;
  std::array<sender_map, 3> senders_; ///< by kind
  bool ended_ = false;
};

} // namespace millrace::amqp::detail
