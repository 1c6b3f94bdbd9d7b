#include "service/hosted_run.hpp"

#include <mutex>
#include <vector>

namespace millrace {
namespace {

struct left_behind {
  std::mutex mutex;
  std::vector<std::unique_ptr<hosted_run>> runs;
};
left_behind& graveyard() {
  static auto* instance = new left_behind; // never destroyed: threads may outlive static destruction
  return *instance;
}

constexpr duration stop_bound = std::chrono::seconds(2);

} // namespace

void hosted_run::release(std::unique_ptr<hosted_run> run) noexcept {
  if (!run) return;
  const bool left = run->run_.left_running() > 0;
  const bool ended = run->rt_.stop(left ? duration::zero() : stop_bound);
  if (ended && !left) return;
  auto& left_runs = graveyard();
  const std::scoped_lock lock(left_runs.mutex);
  left_runs.runs.push_back(std::move(run));
}

} // namespace millrace
