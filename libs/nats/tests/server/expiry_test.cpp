#include "client.hpp"
#include "nats_server.hpp"
#include "test_keys.hpp"

#include <nats/nats.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace millrace::nats::test {
namespace {

/// base64 of the URL alphabet, unpadded.
std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8U | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i <= here; ++i)
      text += letters[group >> (18 - 6 * i) & 63U];
  }
  return text;
}

std::string sign(const std::string& text) {
  (void)nats_Open(-1); // the first connection would
  unsigned char* signature = nullptr;
  int size = 0;
  if (nats_Sign(keys::account_seed, text.c_str(), &signature, &size) != NATS_OK) throw std::runtime_error("sign");
  std::string bytes(reinterpret_cast<const char*>(signature), static_cast<std::size_t>(size));
  std::free(signature);
  return bytes;
}

/// The test user's, good for as long.
std::string user_jwt(std::chrono::seconds lasts) {
  const auto now = std::chrono::system_clock::now().time_since_epoch(); // the server's clock, not ours
  const auto end = std::chrono::ceil<std::chrono::seconds>(now + lasts).count();
  std::string claims = R"({"jti":"T","iat":1700000000,"iss":")";
  claims.append(keys::account_id).append(R"(","name":"u","sub":")").append(keys::user_id).append(R"(","exp":)");
  claims.append(std::to_string(end));
  claims.append(R"(,"nats":{"type":"user","version":2,"pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1}})");
  std::string text = base64(R"({"typ":"JWT","alg":"ed25519-nkey"})");
  text.append(".").append(base64(claims));
  const std::string signature = base64(sign(text));
  return text.append(".").append(signature);
}

class nats_expiry : public ::testing::Test {
 protected:
  void write_credentials(std::chrono::seconds lasts) const { std::ofstream(file_) << credentials(user_jwt(lasts)); }
  /// With credentials that soon run out.
  [[nodiscard]] connected_broker connect_for_a_moment() {
    write_credentials(2s);
    return connect(rt_, server_.url(), connect_options().reconnect_wait(20ms, 200ms).credentials_file(file_.string()));
  }

  nats_server server_{operator_mode(), false};
  std::filesystem::path file_ = server_.directory() / "user.creds";
  pool_runtime rt_{2};
};

// nats 12.4: credentials that run out in session, and are the same when the client comes back.
TEST_F(nats_expiry, credentials_that_run_out_in_session_end_the_subscription) {
  connected_broker b = connect_for_a_moment();
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  const auto port = value_of(b.pair(publish{}));
  ASSERT_TRUE(sink.wait_for_event("ended"));
  EXPECT_TRUE(sink.wait_for_event("interrupted"));
  EXPECT_EQ(send(rt_, *port, "x", "after").error(), make_error_code(errc::closed));
  EXPECT_FALSE(sink.last_error()->message().contains(keys::user_seed)) << sink.last_error()->message();
  run(s->stop());
}

// The file is read again by each connect.
TEST_F(nats_expiry, credentials_that_were_renewed_in_time_bring_the_subscription_back) {
  connected_broker b = connect_for_a_moment();
  write_credentials(1h);
  collecting_sink sink;
  const auto s = open(b, subject("x"), sink);
  ASSERT_TRUE(sink.wait_for_event("interrupted"));
  ASSERT_TRUE(sink.wait_for_event("resumed"));
  const auto port = value_of(b.pair(publish{}));
  ASSERT_TRUE(send(rt_, *port, "x", "after"));
  ASSERT_TRUE(sink.wait_for(1));
  run(s->stop());
}

} // namespace
} // namespace millrace::nats::test
