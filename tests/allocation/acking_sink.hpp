#pragma once

#include <millrace/incoming.hpp>

#include <cstddef>
#include <string_view>

namespace millrace::test_support {

/// Acknowledges what comes, and counts it. Allocates nothing.
class acking_sink final : public sink {
 public:
  acking_sink() = default;
  /// Every message has this header.
  explicit acking_sink(std::string_view header) noexcept : header_(header) {}

  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override {
    while (incoming* const m = batch.pop()) {
      ok = ok && (header_.empty() || m->headers().get(header_)) && m->settle({}).has_value();
      m->release();
      ++seen;
    }
  }
  void interrupted(error /*why*/) noexcept override {}
  void resumed() noexcept override {}
  void ended(error /*why*/) noexcept override {}
  void dropped(std::uint64_t /*count*/) noexcept override {}

  std::size_t seen = 0;
  bool ok = true; ///< each was acknowledged, and had the header

 private:
  std::string_view header_;
};

} // namespace millrace::test_support
