#include "transport/grpc/calls.hpp"

#include "transport/grpc/callback_scope.hpp"

#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace millrace::pubsub::detail {
namespace {

/// Destroys channels on a thread, which the end of the process waits for. What comes later than that stays: threads of
/// gRPC may still be at work while the process ends, so this lives as long as they do.
class channel_ends {
 public:
  static channel_ends& of_process() {
    static channel_ends* const one = [] {
      std::atexit([] { of_process().stop(); });
      return new channel_ends;
    }();
    return *one;
  }

  void destroy(grpc::GenericStub channel) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return kept_.push_back(std::move(channel));
    last_ = std::jthread([before = std::move(last_), channel = std::move(channel)] {});
  }

 private:
  void stop() {
    std::jthread last;
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    last = std::move(last_);
  }

  std::mutex mutex_;
  bool stopped_ = false;
  std::jthread last_;
  std::vector<grpc::GenericStub> kept_;
};

} // namespace

live_calls::live_calls(runtime& rt, std::shared_ptr<grpc::Channel> channel) : stub_(std::move(channel)), none_(rt) {
  channel_ends::of_process(); // the process's end is told in time
  none_.set();
}

live_calls::~live_calls() {
  if (callback_scope::inside()) channel_ends::of_process().destroy(std::move(stub_));
}

} // namespace millrace::pubsub::detail
