// Who the client says that it is, over TLS to a server with a certificate of its own.
#include "fake_fixture.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

namespace millrace::pubsub::test {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// "eyJ..." as the JSON that it is.
std::string decoded(std::string_view base64) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  unsigned bits = 0;
  int have = 0;
  for (const char c : base64) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = (bits << 6U) | static_cast<unsigned>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out += static_cast<char>(bits >> static_cast<unsigned>(have));
  }
  return out;
}

/// A folder with a certificate for 127.0.0.1, which is its own authority, and the key file of a service account.
class made_keys {
 public:
  made_keys()
      : at_(std::filesystem::path(::testing::TempDir()) /
            ("pubsub-keys-" + std::to_string(::getpid()) + std::to_string(++made))) {
    std::filesystem::create_directories(at_);
    sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + file("key.pem") +
       " -out " + file("cert.pem") + " -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1");
    sh("openssl genrsa -out " + file("rsa.pem") + " 2048");
    std::string key = text_of(file("rsa.pem"));
    for (std::size_t end = 0; (end = key.find('\n', end)) != std::string::npos;)
      key.replace(end, 1, "\\n");
    std::ofstream(file("account.json"))
        << R"({"type": "service_account", "client_email": "worker@test-project.iam", "client_id": "7",)"
        << R"( "private_key_id": "k1", "private_key": ")" << key << "\"}";
  }
  made_keys(const made_keys&) = delete;
  made_keys& operator=(const made_keys&) = delete;
  ~made_keys() {
    std::error_code ignored;
    std::filesystem::remove_all(at_, ignored);
  }
  [[nodiscard]] std::string file(const char* name) const { return (at_ / name).string(); }
  [[nodiscard]] fake_pubsub::certificate certificate() const {
    return {text_of(file("cert.pem")), text_of(file("key.pem"))};
  }

 private:
  static inline int made = 0;
  static void sh(const std::string& command) {
    if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) throw std::runtime_error(command);
  }
  std::filesystem::path at_;
};

class over_tls : public ::testing::Test {
 public:
  over_tls() : server(keys().certificate()) {
    server.create_topic(topic_name("orders"));
    server.create_subscription({subscription_name("worker"), topic_name("orders")});
  }
  ~over_tls() override { unsetenv("GOOGLE_APPLICATION_CREDENTIALS"); }
  static const made_keys& keys() {
    static const made_keys made;
    return made;
  }
  broker at() const {
    broker b(project);
    b.endpoint(server.address()).root_certificates(keys().certificate().chain);
    return b;
  }
  /// Of the last call: the claims of the token that a service account signed itself.
  std::string claims() const {
    const std::string said = server.last_authorization();
    EXPECT_TRUE(said.starts_with("Bearer ")) << said.substr(0, 8);
    const std::size_t first = said.find('.') + 1;
    return decoded(std::string_view(said).substr(first, said.rfind('.') - first));
  }
  fake_pubsub server;
};

/// Hands out "token-1" until it is told that a new one is due.
class rotating_tokens {
 public:
  [[nodiscard]] credentials as_credentials() {
    return credentials::tokens([this]() -> result<std::string> {
      const std::lock_guard lock(mutex_);
      if (failing_) return fail(errc::connect, "the vault is locked");
      return "token-" + std::to_string(number_);
    });
  }
  void rotate() {
    const std::lock_guard lock(mutex_);
    ++number_;
  }
  void fail_from_now() {
    const std::lock_guard lock(mutex_);
    failing_ = true;
  }

 private:
  std::mutex mutex_;
  int number_ = 1;
  bool failing_ = false;
};

TEST_F(over_tls, P2_tokens_of_ones_own_go_with_every_call_and_s10_new_ones_are_taken_up) {
  rotating_tokens tokens;
  client c(at().credentials(tokens.as_credentials()));
  waiting_sink seen;
  auto port = value_of(sync_wait(c.on().open(subscription("worker"), seen, {})));
  EXPECT_EQ(server.last_authorization(), "Bearer token-1");
  tokens.rotate();
  server.end_streams(16, "the token is too old");
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(ack(seen.next()));
  EXPECT_EQ(server.last_authorization(), "Bearer token-2");
  EXPECT_TRUE(seen.notes().empty());
  sync_wait(port->stop());
}

TEST_F(over_tls, a_token_source_that_fails_fails_the_call_with_its_own_words) {
  rotating_tokens tokens;
  broker b = at();
  b.credentials(tokens.as_credentials()).publish_timeout(1500ms);
  client c(b);
  tokens.fail_from_now();
  const auto refused = c.send("orders", "tea");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::publish);
  EXPECT_TRUE(refused.error().message().contains("the vault is locked")) << refused.error().message();
  EXPECT_EQ(server.calls("Publish"), 0U);
}

TEST_F(over_tls, P2_a_service_account_signs_for_itself) {
  client c(at().credentials(credentials::service_account_file(keys().file("account.json"))));
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(claims().contains("worker@test-project.iam")) << claims();
  EXPECT_TRUE(claims().contains("https://127.0.0.1:")) << claims();
}

TEST_F(over_tls, P2_the_default_is_what_the_environment_names) {
  setenv("GOOGLE_APPLICATION_CREDENTIALS", keys().file("account.json").c_str(), 1);
  client c(at());
  value_of(c.send("orders", "tea"));
  EXPECT_TRUE(claims().contains("worker@test-project.iam")) << claims();
}

TEST_F(over_tls, what_the_environment_names_and_is_not_there_is_named) {
  setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/account.json", 1);
  pool_runtime rt(1);
  auto refused = sync_wait(at().connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::connect);
  EXPECT_TRUE(refused.error().context().contains("/nonexistent/account.json")) << refused.error().context();
}

TEST_F(over_tls, a_server_that_nobody_vouches_for_is_not_talked_to) {
  pool_runtime rt(1);
  broker b(project);
  b.endpoint(server.address()).credentials(credentials::tokens([]() -> result<std::string> { return "secret"; }));
  const made_keys others;
  b.root_certificates(others.certificate().chain);
  auto refused = sync_wait(std::move(b).connect(rt));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), millrace::errc::connect);
  EXPECT_TRUE(refused.error().context().contains(server.address())) << refused.error().context();
  EXPECT_EQ(server.last_authorization(), "");
}

} // namespace
} // namespace millrace::pubsub::test
