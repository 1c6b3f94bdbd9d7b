#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace millrace::rabbitmq::testing {

/// Finds where the frames end in what a client sends: the protocol header, then frames.
class frame_walker {
 public:
  /// Bytes of `input` up to the end of the frame that it is in, at most all of it.
  [[nodiscard]] std::size_t to_frame_end(std::string_view input);
  [[nodiscard]] bool between_frames() const noexcept { return left_ == 0 && head_.empty(); }

 private:
  std::string head_;     ///< of a frame whose size is not known yet
  std::size_t left_ = 8; ///< bytes of the current frame, or of the protocol header, that are still to come
};

/// A TCP proxy of the test's own, in front of a server: it can cut every connection, at a moment or at a frame, let
/// nothing pass for a while, or lose the client without telling the server.
class tcp_gate {
 public:
  explicit tcp_gate(std::uint16_t to);
  ~tcp_gate();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Ends every connection at once; new ones are let in.
  void cut() noexcept { cut_.store(true); }
  /// Cuts the connection in front of the frame that the client sends after `frames` more; a protocol header counts too.
  void cut_after(int frames) noexcept { cut_after_.store(frames); }
  /// Ends every connection of a client; the server is not told before `bury`.
  void strand() noexcept { strand_.store(true); }
  /// The same in front of the frame that the client sends after `frames` more.
  void strand_after(int frames) noexcept {
    strands_after_.store(true);
    cut_after_.store(frames);
  }
  void bury() noexcept { bury_.store(true); }
  /// Bytes in both directions wait until `release`.
  void hold() noexcept { held_.store(true); }
  void release() noexcept { held_.store(false); }

 private:
  struct pair {
    int client = -1;
    int server = -1;
    frame_walker frames;
  };
  void run();
  void obey();
  void accept_one();
  [[nodiscard]] bool from_client(pair& p);
  [[nodiscard]] static bool from_server(const pair& p);

  std::uint16_t to_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::vector<pair> pairs_;
  std::vector<int> stranded_; ///< their servers' ends
  std::atomic<bool> cut_ = false;
  std::atomic<int> cut_after_ = -1;
  std::atomic<bool> strand_ = false;
  std::atomic<bool> strands_after_ = false; ///< what `cut_after_` does is `strand_`
  std::atomic<bool> bury_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

} // namespace millrace::rabbitmq::testing
