#pragma once

#include "protocol/frame.hpp"

#include <millrace/net/transport.hpp>
#include <millrace/rabbitmq/errors.hpp>
#include <millrace/rabbitmq/options.hpp>
#include <millrace/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace millrace::rabbitmq::detail {

class session; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final

/// A channel as its users see it. Guarded by the link's mutex.
struct channel_gate {
  std::uint16_t number = 0;
  std::uint32_t generation = 0; ///< raised when the channel is lost: what came from the old one may not be settled
  bool open = false;
};

/// What every handle of a connection shares and outlives it with: the bytes on their way out, and who may still add to
/// them. The I/O thread takes all bytes at once, so that many publishes and acks are one write.
class link {
 public:
  link(runtime& rt, broker_settings s, std::shared_ptr<net::transport> io)
      : clock(rt), settings(std::move(s)), io_(std::move(io)) {}
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  runtime& clock;
  const broker_settings settings;

  std::mutex mutex;
  // Guarded by the mutex.
  std::string out;
  bool closed = false;  ///< set first by a shutdown (lifecycle L3)
  bool blocked = false; ///< connection.blocked: the server reads no publishes
  bool stalled = false; ///< a publish waits for room in `out`
  std::uint32_t frame_max = largest_frame;

  /// With the mutex, after adding to `out`. True: call `wake` once the mutex is free.
  [[nodiscard]] bool promise_flush() noexcept { return !std::exchange(flush_promised, true); }
  void wake() noexcept { io_->wake(); }
  /// True for the I/O thread while it will look at `out` again without being woken.
  bool flush_promised = false;

  using command = std::move_only_function<void(session*)>;
  /// Runs on the I/O thread, soon. False: the session is over and the command is gone.
  bool post(command work);
  // For the session.
  [[nodiscard]] std::vector<command> take_commands();
  /// No command is taken any more; answers those that did not run.
  [[nodiscard]] std::vector<command> end() noexcept;

 private:
  std::shared_ptr<net::transport> io_;
  std::vector<command> commands_;
  bool ended_ = false;
};

} // namespace millrace::rabbitmq::detail
