// The other side: a plain program on gRPC's callback API and protobuf's generated classes.
#include "sides.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/client_callback.h>
#include <pubsub_wire.pb.h>

#include <atomic>
#include <cstdlib>
#include <memory>

namespace bench::bare {
namespace {

namespace wire = millrace::pubsub::wire;

template <class Request, class Response> using stub = grpc::TemplatedGenericStub<Request, Response>;

std::string full_name(const char* collection, const char* id) {
  return std::string("projects/") + project + '/' + collection + '/' + id;
}

void check(const grpc::Status& status, const char* what) {
  if (status.ok()) [[likely]]
    return;
  std::fprintf(stderr, "bench_pubsub: %s: %s\n", what, status.error_message().c_str());
  std::_Exit(1);
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
  return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
}

/// A unary call with everything that it needs, on the heap until it is answered.
template <class Request, class Response> struct call {
  grpc::ClientContext context;
  Request request;
  Response response;
};

/// Acknowledges in requests of `ack_ids`.
class acknowledger {
 public:
  acknowledger(const std::shared_ptr<grpc::Channel>& channel, std::string subscription)
      : stub_(channel), subscription_(std::move(subscription)) {}
  void add(const std::string& ack_id) {
    if (next_ == nullptr) {
      next_ = std::make_shared<one>();
      next_->request.set_subscription(subscription_);
    }
    next_->request.add_ack_ids(ack_id);
    if (static_cast<std::size_t>(next_->request.ack_ids_size()) == ack_ids) send();
  }
  void send() {
    if (next_ == nullptr) return;
    ++under_way_;
    const auto sent = std::exchange(next_, nullptr);
    stub_.UnaryCall(&sent->context, "/google.pubsub.v1.Subscriber/Acknowledge", {}, &sent->request, &sent->response,
                    [this, sent](const grpc::Status& status) {
                      check(status, "acknowledge");
                      if (--under_way_ == 0) under_way_.notify_all();
                    });
  }
  void wait() {
    for (std::size_t n = under_way_; n != 0; n = under_way_)
      under_way_.wait(n);
  }

 private:
  using one = call<wire::AcknowledgeRequest, wire::Empty>;
  stub<wire::AcknowledgeRequest, wire::Empty> stub_;
  const std::string subscription_;
  std::shared_ptr<one> next_;
  std::atomic<std::size_t> under_way_ = 0;
};

class reader final : public grpc::ClientBidiReactor<wire::StreamingPullRequest, wire::StreamingPullResponse> {
 public:
  reader(const std::shared_ptr<grpc::Channel>& channel, meter& m)
      : stub_(channel), acks_(channel, full_name("subscriptions", kept_topic)), meter_(m) {
    first_.set_subscription(full_name("subscriptions", kept_topic));
    first_.set_stream_ack_deadline_seconds(ack_deadline);
    first_.set_max_outstanding_messages(outstanding);
    first_.set_max_outstanding_bytes(outstanding_bytes);
    stub_.PrepareBidiStreamingCall(&context_, "/google.pubsub.v1.Subscriber/StreamingPull", {}, this);
    StartWrite(&first_);
    StartRead(&response_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    bool last = false;
    for (const wire::ReceivedMessage& m : response_.received_messages()) {
      last = meter_.message(m.message().data().size());
      acks_.add(m.ack_id());
    }
    if (last) acks_.send();
    StartRead(&response_);
  }
  void OnDone(const grpc::Status& /*status*/) override {
    over_ = true;
    over_.notify_all();
  }
  void stop() {
    acks_.wait();
    context_.TryCancel();
    over_.wait(false);
  }

 private:
  stub<wire::StreamingPullRequest, wire::StreamingPullResponse> stub_;
  grpc::ClientContext context_;
  wire::StreamingPullRequest first_;
  wire::StreamingPullResponse response_;
  acknowledger acks_;
  meter& meter_;
  std::atomic<bool> over_ = false;
};

/// Publishes full requests, some at a time; each answer begins the next one.
class writer {
 public:
  writer(const std::shared_ptr<grpc::Channel>& channel, std::string topic, std::size_t messages)
      : stub_(channel), topic_(std::move(topic)), messages_(messages) {}
  void run() {
    for (std::size_t i = 0; i < requests_under_way; ++i)
      send();
    for (std::size_t n = answered_; n < messages_; n = answered_)
      answered_.wait(n);
  }

 private:
  using one = call<wire::PublishRequest, wire::PublishResponse>;

  void send() {
    const std::size_t from = sent_.fetch_add(request_messages);
    if (from >= messages_) return;
    const auto next = std::make_shared<one>();
    next->request.set_topic(topic_);
    for (std::size_t i = from; i < std::min(messages_, from + request_messages); ++i)
      next->request.add_messages()->set_data(sixteen_bytes.data(), sixteen_bytes.size());
    stub_.UnaryCall(&next->context, "/google.pubsub.v1.Publisher/Publish", {}, &next->request, &next->response,
                    [this, next](const grpc::Status& status) {
                      check(status, "publish");
                      answered_ += static_cast<std::size_t>(next->response.message_ids_size());
                      answered_.notify_all();
                      send();
                    });
  }
  stub<wire::PublishRequest, wire::PublishResponse> stub_;
  const std::string topic_;
  const std::size_t messages_;
  std::atomic<std::size_t> sent_ = 0;
  std::atomic<std::size_t> answered_ = 0;
};

} // namespace

int consume(const run_options& options) {
  meter m(options.messages);
  reader one(channel_to(options.url), m);
  m.wait();
  m.report();
  one.stop();
  return 0;
}

int publish(const run_options& options, const char* topic) {
  meter m(options.messages);
  const auto channel = channel_to(options.url);
  channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
  writer one(channel, full_name("topics", topic), options.messages);
  m.begin();
  one.run();
  m.end();
  m.report();
  std::_Exit(0); // the last answers have nothing left to begin
}

} // namespace bench::bare
