#include "transport/grpc/callback_scope.hpp"
#include "transport/grpc/grpc_call.hpp"

#include <grpcpp/support/client_callback.h>

#include <deque>
#include <mutex>

namespace millrace::pubsub::detail {
namespace {

/// One streaming pull on the callback API. It keeps itself alive until gRPC is done with it. Between two reads it holds
/// the call, since `read` and `send` come from other threads than gRPC's.
class grpc_stream final : public pull_stream,
                          public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public std::enable_shared_from_this<grpc_stream> {
 public:
  grpc_stream(std::shared_ptr<live_calls> calls, std::shared_ptr<stream_events> events)
      : calls_(std::move(calls)), events_(std::move(events)) {}

  void start(std::string first, std::string_view routing) {
    self_ = shared_from_this();
    context_.AddMetadata("x-goog-request-params", std::string(routing));
    counted_ = calls_->add(context_);
    if (!counted_) context_.TryCancel();
    calls_->stub().PrepareBidiStreamingCall(&context_, std::string(path_of(method::streaming_pull)), {}, this);
    writing_ = buffer_of(std::move(first));
    busy_ = true;
    StartWrite(&writing_);
    AddHold();
    StartCall();
  }

  void send(std::string request) noexcept override {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    waiting_.push_back(std::move(request));
    write_next();
  }

  void read() noexcept override {
    const std::lock_guard lock(mutex_);
    if (over_ || reading_) return;
    reading_ = true;
    StartRead(&response_);
  }

  void finish() noexcept override {
    const std::lock_guard lock(mutex_);
    if (over_ || finishing_) return;
    finishing_ = true;
    write_next();
  }

  void cancel() noexcept override {
    context_.TryCancel();
    bool release = false;
    {
      const std::lock_guard lock(mutex_);
      release = !over_ && !reading_; // else the read fails and ends it
      over_ = over_ || release;
    }
    if (!release) return;
    handed_over(this);
    RemoveHold();
  }

  void OnReadInitialMetadataDone(bool ok) override {
    const callback_scope here(this);
    if (ok) events_->on_opened();
  }

  void OnReadDone(bool ok) override {
    const callback_scope here(this);
    {
      const std::lock_guard lock(mutex_);
      reading_ = false;
      if (!ok) over_ = true;
    }
    if (!ok) return RemoveHold();
    events_->on_response(take_response());
  }

  void OnWriteDone(bool ok) override {
    const callback_scope here(this);
    if (ok && !std::exchange(sent_, true)) events_->on_sent();
    const std::lock_guard lock(mutex_);
    busy_ = false;
    if (ok && !over_) write_next();
  }

  void OnDone(const grpc::Status& status) override {
    const callback_scope here;
    taken_over(this);
    const auto calls = calls_;
    const bool counted = counted_;
    events_->on_closed(status_of(status));
    events_.reset();
    if (counted) calls->remove(context_);
    std::exchange(self_, nullptr).reset();
    if (counted) calls->end();
  }

 private:
  void write_next() {
    if (busy_) return;
    if (waiting_.empty() && finishing_) {
      busy_ = true; // for good
      StartWritesDone();
    }
    if (waiting_.empty()) return;
    busy_ = true;
    writing_ = buffer_of(std::move(waiting_.front()));
    waiting_.pop_front();
    StartWrite(&writing_);
  }

  shared_bytes take_response() {
    auto slice = std::make_shared<grpc::Slice>();
    grpc::ByteBuffer taken;
    taken.Swap(&response_);
    if (!taken.TrySingleSlice(slice.get()).ok()) (void)taken.DumpToSingleSlice(slice.get());
    const std::string_view view(reinterpret_cast<const char*>(slice->begin()), slice->size());
    return {std::move(slice), view};
  }

  std::shared_ptr<live_calls> calls_; ///< goes last
  std::shared_ptr<stream_events> events_;
  std::shared_ptr<grpc_stream> self_;
  grpc::ClientContext context_;
  grpc::ByteBuffer response_;
  grpc::ByteBuffer writing_;
  bool counted_ = false;
  bool sent_ = false; ///< the first request

  std::mutex mutex_;
  std::deque<std::string> waiting_;
  bool busy_ = false;
  bool finishing_ = false;
  bool reading_ = false;
  bool over_ = false;
};

} // namespace

std::shared_ptr<pull_stream> start_stream(std::shared_ptr<live_calls> calls, std::string first,
                                          std::string_view routing, std::shared_ptr<stream_events> events) {
  auto stream = std::make_shared<grpc_stream>(std::move(calls), std::move(events));
  stream->start(std::move(first), routing);
  return stream;
}

} // namespace millrace::pubsub::detail
