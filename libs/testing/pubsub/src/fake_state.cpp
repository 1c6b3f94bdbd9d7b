#include "fake_state.hpp"

#include "cloud/rules.hpp"
#include "fake_reactors.hpp"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <stdexcept>

namespace millrace::testing {
namespace {

using model::method;

model::cloud::options real_clock() {
  model::cloud::options chosen;
  chosen.clock = [] { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); };
  return chosen;
}

std::shared_ptr<grpc::ServerCredentials> credentials_of(const fake_pubsub::certificate* shown) {
  if (shown == nullptr) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({shown->key, shown->chain});
  return grpc::SslServerCredentials(tls);
}

/// The last part of the path: "Publish".
std::string_view name_of(method which) noexcept {
  const std::string_view path = model::path_of(which);
  return path.substr(path.rfind('/') + 1);
}

/// Answers a method that there is not.
class unknown_method final : public grpc::ServerGenericBidiReactor {
 public:
  unknown_method() { Finish({grpc::StatusCode::UNIMPLEMENTED, "no such method"}); }
  void OnDone() override { delete this; }
};

} // namespace

fake_pubsub::state::state(std::uint16_t wanted, const fake_pubsub::certificate* shown) : service(real_clock()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(wanted), credentials_of(shown), &port);
  builder.SetMaxReceiveMessageSize(64 * 1024 * 1024);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.RegisterCallbackGenericService(this);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0)
    throw std::runtime_error("the fake Pub/Sub server cannot listen on port " + std::to_string(wanted));
  clock_ = std::thread([this] { keep_time(); });
}

fake_pubsub::state::~state() {
  {
    const std::lock_guard lock(mutex);
    stopping_ = true;
    later_.clear();
    model::call_status gone;
    gone.code = model::status_code::unavailable;
    gone.text = "the server stops";
    service.end_streams(gone);
  }
  changed_.notify_all();
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  clock_.join();
  const std::lock_guard last(mutex); // every reaction had it
}

grpc::ServerGenericBidiReactor* fake_pubsub::state::CreateReactor(grpc::GenericCallbackServerContext* context) {
  {
    const std::lock_guard lock(mutex);
    const auto said = context->client_metadata().find("authorization");
    last_authorization =
        said == context->client_metadata().end() ? "" : std::string(said->second.data(), said->second.size());
  }
  for (std::size_t i = 0; i < model::methods; ++i) {
    const auto which = static_cast<method>(i);
    if (context->method() != model::path_of(which)) continue;
    return which == method::streaming_pull ? make_stream_reactor(*this) : make_call_reactor(*this, which);
  }
  return new unknown_method; // frees itself
}

fake_pubsub::state::script& fake_pubsub::state::script_of(std::string_view name) {
  for (std::size_t i = 0; i < model::methods; ++i)
    if (name_of(static_cast<method>(i)) == name) return scripts_[i];
  throw std::invalid_argument("fake Pub/Sub: there is no method \"" + std::string(name) + '"');
}

std::optional<model::call_status> fake_pubsub::state::begin_call(method which, const std::string& body) {
  script& s = script_of(which);
  ++s.calls;
  if (s.recorded) s.bodies.push_back(body);
  if (s.failures.empty()) return std::nullopt;
  model::call_status failure = std::move(s.failures.front());
  s.failures.pop_front();
  return failure;
}

/// What a test asked for, of calls that are well themselves.
std::optional<model::call_status> fake_pubsub::state::scripted_refusal(method which, const std::string& body) {
  if (which == method::acknowledge && acks_refused_for_now > 0) {
    --acks_refused_for_now;
    wire::AcknowledgeRequest request;
    if (!request.ParseFromString(body)) return std::nullopt;
    return model::refuse_ack_ids({request.ack_ids().begin(), request.ack_ids().end()}, "TRANSIENT_FAILURE_SCRIPTED");
  }
  wire::PublishRequest request;
  if (which != method::publish || refused_payloads.empty() || !request.ParseFromString(body)) return std::nullopt;
  for (const wire::PubsubMessage& m : request.messages()) {
    if (!refused_payloads.contains(m.data())) continue;
    model::call_status refused;
    refused.code = model::status_code::invalid_argument;
    refused.text = "a message does not fit the schema";
    return refused;
  }
  return std::nullopt;
}

model::call_answer fake_pubsub::state::answer(method which, const std::string& body) {
  model::call_answer a;
  auto failure = begin_call(which, body);
  if (!failure) failure = scripted_refusal(which, body);
  if (!failure) return service.call(which, body, std::chrono::steady_clock::now());
  a.status = std::move(*failure);
  return a;
}

void fake_pubsub::state::reply(method which, std::function<void()> send) {
  script& s = script_of(which);
  if (s.held) {
    s.waiting.push_back(std::move(send));
  } else if (s.slow.count() > 0) {
    later_.emplace(std::chrono::steady_clock::now() + s.slow, std::move(send));
    changed_.notify_all();
  } else {
    send();
  }
}

void fake_pubsub::state::run() {
  const auto before = service.next_due();
  service.run(std::chrono::steady_clock::now());
  const auto due = service.next_due();
  if (due && (!before || *due < *before)) changed_.notify_all();
}

void fake_pubsub::state::keep_time() {
  std::unique_lock lock(mutex);
  while (!stopping_) {
    const time_point now = std::chrono::steady_clock::now();
    while (!later_.empty() && later_.begin()->first <= now) {
      const auto send = std::move(later_.begin()->second);
      later_.erase(later_.begin());
      send();
    }
    service.run(now);
    auto due = service.next_due();
    if (!later_.empty() && (!due || later_.begin()->first < *due)) due = later_.begin()->first;
    if (due)
      changed_.wait_until(lock, *due);
    else
      changed_.wait(lock);
  }
}

} // namespace millrace::testing
