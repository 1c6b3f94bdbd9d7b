#pragma once

#include <millrace/incoming.hpp>

#include <string>
#include <vector>

namespace millrace::test_support {

/// Keeps what came and what the subscription was told, for a test on the virtual clock: one thread.
class recording_sink final : public sink {
 public:
  ~recording_sink() { held.release_all(); }
  void deliver(incoming_batch batch, deliver_from /*where*/) noexcept override { held.append(std::move(batch)); }
  void interrupted(error why) noexcept override { told.push_back("interrupted: " + why.message()); }
  void resumed() noexcept override { told.emplace_back("resumed"); }
  void ended(error why) noexcept override { told.push_back("ended: " + why.message()); }
  void dropped(std::uint64_t /*count*/) noexcept override {}
  incoming_batch held;
  std::vector<std::string> told;
};

} // namespace millrace::test_support
