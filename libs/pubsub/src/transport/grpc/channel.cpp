#include "transport/grpc/channel.hpp"

#include "transport/grpc/handover.hpp"

#include <millrace/pubsub/errors.hpp>

#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace millrace::pubsub::detail {
namespace {

/// The user's token source as a plugin of gRPC, which calls it on threads of its own.
class token_plugin final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit token_plugin(credentials::token_source source) : source_(std::move(source)) { handed_over(this); }
  token_plugin(const token_plugin&) = delete;
  token_plugin& operator=(const token_plugin&) = delete;
  ~token_plugin() override { taken_over(this); }

  [[nodiscard]] bool IsBlocking() const override { return true; }
  [[nodiscard]] const char* GetType() const override { return "millrace"; }
  grpc::string DebugString() override { return "millrace: tokens"; }

  grpc::Status GetMetadata(grpc::string_ref /*service*/, grpc::string_ref /*method*/,
                           const grpc::AuthContext& /*context*/,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    taken_over(this);
    result<std::string> token = source_();
    handed_over(this);
    if (!token) return {grpc::StatusCode::UNAUTHENTICATED, "the token source failed: " + token.error().message()};
    metadata->emplace("authorization", "Bearer " + *token);
    return grpc::Status::OK;
  }

 private:
  credentials::token_source source_;
};

std::shared_ptr<grpc::ChannelCredentials> tls(const settings& options) {
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.root_certificates;
  return grpc::SslCredentials(ssl);
}

using channel_credentials = result<std::shared_ptr<grpc::ChannelCredentials>>;

channel_credentials refuse(const std::string& why) { return fail(errc::connect, why); }

channel_credentials from_file(const settings& options, const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return refuse("credentials: cannot read '" + path + "'");
  const auto call = grpc::ServiceAccountJWTAccessCredentials(text.str());
  if (call == nullptr) return refuse("credentials: '" + path + "' is not the key of a service account");
  return grpc::CompositeChannelCredentials(tls(options), call);
}

/// The key of a service account that the environment names is read as one that is named here, so that
/// `root_certificates` hold for it too; everything else is gRPC's to find.
channel_credentials find_default(const settings& options) {
  const char* const named = std::getenv("GOOGLE_APPLICATION_CREDENTIALS");
  if (named != nullptr && *named != '\0') {
    if (!std::ifstream(named))
      return refuse(std::string("credentials: GOOGLE_APPLICATION_CREDENTIALS: cannot read '") + named + "'");
    if (auto key = from_file(options, named)) return key;
  }
  auto found = grpc::GoogleDefaultCredentials();
  if (found == nullptr) return refuse("credentials: there are no Application Default Credentials");
  return found;
}

channel_credentials make_credentials(const settings& options) {
  const credentials chosen = options.credentials.value_or(credentials::application_default());
  switch (chosen.what()) {
  case credentials::kind::application_default:
    return find_default(options);
  case credentials::kind::service_account_file:
    return from_file(options, chosen.path());
  case credentials::kind::tokens: {
    if (!chosen.source()) return refuse("credentials: the token source is empty");
    auto plugin = std::make_unique<token_plugin>(chosen.source());
    return grpc::CompositeChannelCredentials(tls(options), grpc::MetadataCredentialsFromPlugin(std::move(plugin)));
  }
  case credentials::kind::none:
    return grpc::InsecureChannelCredentials();
  }
  return refuse("credentials: unknown kind");
}

int milliseconds(duration d) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

grpc::ChannelArguments arguments(const settings& options) {
  grpc::ChannelArguments to;
  to.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1); // no other channel's back-off
  to.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(options.keepalive));
  to.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(options.keepalive_answer));
  to.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // a silent stream is probed all the time
  to.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000); // in truth how long one attempt may take
  to.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  to.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10'000);
  to.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);
  to.SetInt(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  to.SetInt(GRPC_ARG_ENABLE_RETRIES, 0); // attempts are the session's, which knows what may be repeated
  to.SetUserAgentPrefix("millrace");
  return to;
}

gpr_timespec due(duration bound) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(bound.count(), GPR_TIMESPAN));
}

} // namespace

result<std::shared_ptr<grpc::Channel>> make_channel(const settings& options, const std::string& host, bool emulator) {
  if (host.empty()) return fail(errc::connect, "the endpoint is empty");
  std::shared_ptr<grpc::ChannelCredentials> chosen = grpc::InsecureChannelCredentials();
  if (!emulator) {
    auto made = make_credentials(options);
    if (!made) return fail(std::move(made.error()).at(host));
    chosen = std::move(*made);
  }
  return grpc::CreateCustomChannel(host, chosen, arguments(options));
}

result<void> wait_until_ready(grpc::Channel& channel, const std::string& host, duration bound) {
  const gpr_timespec until = due(bound);
  grpc::CompletionQueue queue;
  std::string why = "no connection within the connect timeout";
  for (;;) {
    const grpc_connectivity_state state = channel.GetState(true);
    if (state == GRPC_CHANNEL_READY) return {};
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) why = "nobody answers there";
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) break;
    channel.NotifyOnStateChange(state, until, &queue, nullptr);
    void* tag = nullptr;
    bool changed = false;
    if (!queue.Next(&tag, &changed) || !changed) break;
  }
  return fail(errc::connect, host + ": " + why);
}

} // namespace millrace::pubsub::detail
