#pragma once

#include "support/tcp_relay.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::testing {

/// Finds where the frames end in what a client sends: the protocol header, then frames.
class frame_walker {
 public:
  /// Bytes of `input` up to the end of the frame that it is in, at most all of it.
  [[nodiscard]] std::size_t to_frame_end(std::string_view input) {
    std::size_t taken = 0;
    if (left_ == 0) { // type, channel and size
      while (taken < input.size() && head_.size() < 7)
        head_.push_back(input[taken++]);
      if (head_.size() < 7) return taken;
      for (std::size_t i = 3; i < 7; ++i)
        left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
      ++left_; // the end mark
      head_.clear();
    }
    const std::size_t rest = std::min(left_, input.size() - taken);
    left_ -= rest;
    return taken + rest;
  }
  [[nodiscard]] bool between_frames() const noexcept { return left_ == 0 && head_.empty(); }

 private:
  std::string head_;     ///< of a frame whose size is not known yet
  std::size_t left_ = 8; ///< bytes of the current frame, or of the protocol header, that are still to come
};

/// A relay that can break in front of a frame of the client's.
class tcp_gate : public test_support::tcp_relay {
 public:
  explicit tcp_gate(std::uint16_t to) : tcp_gate(to, std::make_shared<fuse>()) {}

  /// Cuts in front of the frame that the client sends after `frames` more; a protocol header counts too.
  void cut_after(int frames) noexcept { fuse_->left.store(frames); }
  /// The same with `strand`.
  void strand_after(int frames) noexcept {
    fuse_->strands.store(true);
    fuse_->left.store(frames);
  }

 private:
  struct fuse {
    std::atomic<int> left = -1; ///< frames; negative: it is not lit
    std::atomic<bool> strands = false;

    void burn(frame_walker& frames, std::string& bytes, tcp_relay& through) {
      for (std::size_t passed = 0; passed < bytes.size();) {
        if (frames.between_frames() && left.load() == 0) return blow(bytes, passed, through);
        passed += frames.to_frame_end(std::string_view(bytes).substr(passed));
        if (frames.between_frames() && left.load() > 0) --left;
      }
    }
    void blow(std::string& bytes, std::size_t passed, tcp_relay& through) {
      bytes.resize(passed);
      left.store(-1);
      if (strands.exchange(false))
        through.strand();
      else
        through.cut();
    }
  };
  static filter burning(const std::shared_ptr<fuse>& lit, tcp_relay& through) {
    return [lit, &through, frames = frame_walker()](test_support::way to, std::string& bytes) mutable {
      if (to == test_support::way::to_server) lit->burn(frames, bytes, through);
    };
  }
  tcp_gate(std::uint16_t to, const std::shared_ptr<fuse>& lit)
      : tcp_relay(to, {.made = std::bind_front(&tcp_gate::burning, lit)}), fuse_(lit) {}
  std::shared_ptr<fuse> fuse_; ///< the relay's thread burns it until the relay ends
};

} // namespace millrace::rabbitmq::testing
