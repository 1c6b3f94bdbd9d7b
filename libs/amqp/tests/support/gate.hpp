#pragma once

#include "support/tcp_relay.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace millrace::amqp::testing {

/// A relay that counts the bytes of both directions together, and can cut after some.
class gate : public test_support::tcp_relay {
 public:
  explicit gate(unsigned short to) : gate(to, std::make_shared<meter>()) {}

  /// Cuts once, when so many more bytes have passed.
  void cut_after(std::int64_t bytes) noexcept { meter_->left.store(bytes); }
  /// Bytes that have passed.
  [[nodiscard]] std::int64_t passed() const noexcept { return meter_->passed.load(); }

 private:
  struct meter {
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    std::atomic<std::int64_t> left = unlimited; ///< before the cut
    std::atomic<std::int64_t> passed = 0;

    void count(std::string& bytes, tcp_relay& through) {
      const std::int64_t n = std::min(left.load(), static_cast<std::int64_t>(bytes.size()));
      bytes.resize(static_cast<std::size_t>(n));
      passed.fetch_add(n);
      if (left.load() == unlimited || left.fetch_sub(n) != n) return;
      left.store(unlimited);
      through.cut();
    }
  };
  static filter counted(const std::shared_ptr<meter>& by, tcp_relay& through) {
    return [by, &through](test_support::way /*to*/, std::string& bytes) { by->count(bytes, through); };
  }
  gate(unsigned short to, const std::shared_ptr<meter>& of)
      : tcp_relay(to, {.made = std::bind_front(&gate::counted, of)}), meter_(of) {}
  std::shared_ptr<meter> meter_; ///< the relay's thread counts until the relay ends
};

} // namespace millrace::amqp::testing
