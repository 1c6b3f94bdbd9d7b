#include "stage.hpp"

#include <millrace/pool_runtime.hpp>
#include <millrace/testing/conformance/checks.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <condition_variable>
#include <mutex>

namespace millrace::testing::conformance {
namespace {

constexpr std::chrono::seconds longest_check{45};

/// The check's body and then the cleaning up, whatever came of it.
task<verdict> play(const check& c, stage& on) {
  verdict said;
  try {
    co_await c.body(on);
  } catch (const std::exception& e) {
    said = {verdict::kind::failed, e.what()};
  } catch (...) {
    said = {verdict::kind::failed, "an exception of unknown type"};
  }
  try {
    co_await on.clear();
  } catch (const std::exception& e) {
    if (said) said = {verdict::kind::failed, std::string("cleaning up: ") + e.what()};
  }
  co_return said;
}

verdict run_in_process(const check& c, const kit_ptr& kit) {
  virtual_runtime rt;
  stage on(kit, rt);
  try {
    return rt.drive(play(c, on));
  } catch (const std::exception& e) {
    return {verdict::kind::failed, e.what()};
  }
}

/// A run on real threads. One that hangs is left behind, with all that its threads may still touch.
class live_run : public completion {
 public:
  live_run(const check& c, kit_ptr kit)
      : completion([](completion& done) noexcept { static_cast<live_run&>(done).ended(); }), runtime_(2),
        stage_(std::move(kit), runtime_), work_(play(c, stage_)) {}

  bool finishes() {
    work_.start(*this);
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest_check, [&] { return over_; });
  }
  verdict take() {
    runtime_.stop(longest_check);
    return work_.take();
  }

 private:
  void ended() noexcept {
    const std::scoped_lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  pool_runtime runtime_;
  stage stage_;
  task<verdict> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

verdict run_live(const check& c, const kit_ptr& kit) {
  auto run = std::make_unique<live_run>(c, kit);
  if (run->finishes()) return run->take();
  static_cast<void>(run.release());
  return {verdict::kind::failed, "the check did not end within 45 s: something of the broker hangs"};
}

} // namespace

verdict check::run(const kit_ptr& kit) const {
  if (!applies(*kit)) return {verdict::kind::not_applicable, kit->name() + " has not " + std::string(needs)};
  return kit->mode() == run_mode::live ? run_live(*this, kit) : run_in_process(*this, kit);
}

} // namespace millrace::testing::conformance
