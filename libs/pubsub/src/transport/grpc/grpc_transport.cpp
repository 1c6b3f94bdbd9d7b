#include "transport/grpc/grpc_transport.hpp"

#include "protocol/names.hpp"
#include "transport/grpc/channel.hpp"
#include "transport/grpc/grpc_call.hpp"

#include <cstdlib>
#include <thread>

namespace millrace::pubsub::detail {
namespace {

class grpc_transport final : public transport {
 public:
  grpc_transport(runtime& rt, std::shared_ptr<grpc::Channel> channel)
      : calls_(std::make_shared<live_calls>(rt, std::move(channel))) {}

  void call(const call_request& request, call_done done) noexcept override {
    start_call(calls_, request, std::move(done));
  }
  std::shared_ptr<pull_stream> open(std::string first, std::string_view routing,
                                    std::shared_ptr<stream_events> events) noexcept override {
    return start_stream(calls_, std::move(first), routing, std::move(events));
  }
  task<void> close(time_point due) override {
    calls_->cancel_all();
    co_await calls_->wait_until_none(due);
  }
  void abandon() noexcept override { calls_->cancel_all(); }
  [[nodiscard]] deliver_from delivers_from() const noexcept override { return deliver_from::io_thread; }

 private:
  std::shared_ptr<live_calls> calls_;
};

using made_channel = result<std::shared_ptr<grpc::Channel>>;

made_channel dial(const settings& options, const target& to) {
  made_channel channel = make_channel(options, to.host, to.emulator);
  if (!channel) return channel;
  result<void> ready = wait_until_ready(**channel, to.host, options.connect_timeout);
  if (!ready) return fail(std::move(ready.error()));
  return channel;
}

/// What the dialling thread leaves behind, and who waits for it.
struct dialling {
  explicit dialling(runtime& rt) : done(rt) {}
  made_channel channel = std::shared_ptr<grpc::Channel>();
  event done;
};

} // namespace

target target_of(const settings& options) {
  if (!options.emulator.empty()) return {host_of(options.emulator), true};
  if (!options.endpoint.empty()) return {host_of(options.endpoint), false};
  const char* const variable = options.credentials ? nullptr : std::getenv("PUBSUB_EMULATOR_HOST");
  if (variable != nullptr && *variable != '\0') return {host_of(variable), true};
  return {"pubsub.googleapis.com", false};
}

/// Credentials and the channel's state are read by calls that block: on a thread of their own.
task<result<std::shared_ptr<transport>>> connect_grpc(runtime& rt, settings options) {
  const target to = target_of(options);
  const auto work = std::make_shared<dialling>(rt);
  rt.external_begin();
  std::thread([work, options, to] {
    work->channel = dial(options, to);
    work->done.set();
  }).detach();
  const bool in_time = co_await work->done.wait_until(rt.now() + options.connect_timeout + std::chrono::seconds(5));
  rt.external_end();
  if (!in_time) co_return fail(errc::connect, to.host + ": the credentials were not read in time");
  if (!work->channel) co_return fail(std::move(work->channel.error()));
  co_return std::make_shared<grpc_transport>(rt, std::move(*work->channel));
}

} // namespace millrace::pubsub::detail
