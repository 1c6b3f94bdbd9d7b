#include "fake_reactors.hpp"

#include "transport/grpc/handover.hpp"

#include <grpcpp/support/slice.h>

namespace millrace::testing {
namespace {

using model::call_status;
using model::method;
using model::status_code;

grpc::Status status_of(const call_status& s) { return {static_cast<grpc::StatusCode>(s.code), s.text, s.details}; }

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::string text;
  std::vector<grpc::Slice> slices;
  if (buffer.Valid() && buffer.Dump(&slices).ok())
    for (const grpc::Slice& s : slices)
      text.append(reinterpret_cast<const char*>(s.begin()), s.size());
  return text;
}

/// One unary call: a request, and an answer when the script lets it go.
class call_reactor final : public grpc::ServerGenericBidiReactor {
 public:
  call_reactor(fake_pubsub::state& server, method which) : server_(server), which_(which) {
    StartRead(&request_);
    model::handed_over(this);
  }

  void OnReadDone(bool ok) override {
    const std::lock_guard lock(server_.mutex);
    if (!ok) return finish(grpc::Status::CANCELLED);
    std::string body = text_of(request_);
    const model::call_answer answer = server_.answer(which_, body);
    alive_ = std::make_shared<bool>(true);
    server_.reply(which_, [this, alive = alive_, answer] {
      if (!*alive || finished_) return;
      if (!answer.status.ok()) return finish(status_of(answer.status));
      response_ = buffer_of(answer.body);
      finished_ = true;
      StartWriteAndFinish(&response_, {}, grpc::Status::OK);
    });
    server_.run();
  }
  void OnCancel() override {
    model::taken_over(this);
    const std::lock_guard lock(server_.mutex);
    finish(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    model::taken_over(this);
    {
      const std::lock_guard lock(server_.mutex);
      if (alive_ != nullptr) *alive_ = false;
    }
    delete this;
  }

 private:
  void finish(const grpc::Status& status) {
    if (std::exchange(finished_, true)) return;
    Finish(status);
  }
  fake_pubsub::state& server_;
  const method which_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  std::shared_ptr<bool> alive_; ///< for an answer that comes when the client has gone
  bool finished_ = false;
};

/// One streaming pull.
class stream_reactor final : public grpc::ServerGenericBidiReactor, public model::cloud_stream {
 public:
  explicit stream_reactor(fake_pubsub::state& server) : server_(server) {
    StartRead(&request_);
    model::handed_over(this);
  }

  void OnReadDone(bool ok) override {
    const std::lock_guard lock(server_.mutex);
    if (!ok) return finish({}); // the client has no more to say
    const std::string body = text_of(request_);
    const call_status taken =
        attached_ ? server_.service.request(*this, body, std::chrono::steady_clock::now()) : begin(body);
    if (!taken.ok()) return finish(taken);
    if (!finished_) StartRead(&request_);
    server_.run();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(server_.mutex);
    writing_ = false;
    if (ok) write_next();
  }
  void OnCancel() override {
    model::taken_over(this);
    const std::lock_guard lock(server_.mutex);
    call_status cancelled;
    cancelled.code = status_code::cancelled;
    finish(cancelled);
    server_.run();
  }
  void OnDone() override {
    model::taken_over(this);
    {
      const std::lock_guard lock(server_.mutex);
    } // every other reaction had it
    delete this;
  }

  void send(const wire::StreamingPullResponse& response) override {
    responses_.push_back(buffer_of(response.SerializeAsString()));
    write_next();
  }
  void end(call_status why) override {
    attached_ = false; // the service let go of it
    finish(why);
  }

 private:
  call_status begin(const std::string& body) {
    if (auto failure = server_.begin_call(method::streaming_pull, body)) return *failure;
    call_status opened;
    opened = server_.service.attach(*this, body, std::chrono::steady_clock::now());
    attached_ = opened.ok();
    return opened;
  }
  void write_next() {
    if (writing_ || finished_ || responses_.empty()) return;
    writing_ = true;
    sent_ = responses_.front();
    responses_.pop_front();
    StartWrite(&sent_);
  }
  void finish(const call_status& why) {
    if (std::exchange(finished_, true)) return;
    if (std::exchange(attached_, false)) server_.service.detach(*this);
    Finish(status_of(why));
  }

  fake_pubsub::state& server_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer sent_;
  std::deque<grpc::ByteBuffer> responses_;
  bool attached_ = false;
  bool writing_ = false;
  bool finished_ = false;
};

} // namespace

grpc::ServerGenericBidiReactor* make_call_reactor(fake_pubsub::state& server, method which) {
  return new call_reactor(server, which); // frees itself in OnDone
}

grpc::ServerGenericBidiReactor* make_stream_reactor(fake_pubsub::state& server) {
  return new stream_reactor(server); // the same
}

} // namespace millrace::testing
