#include "server/live_server.hpp"

#include <gtest/gtest.h>

namespace millrace::rabbitmq::testing {
namespace {

using namespace std::chrono_literals;

std::string file(const std::string& name) { return live_server::shared().folder() + "/" + name; }

broker over_tls(const tls_options& how) { return broker(live_server::shared().tls_url()).with_tls(how); }

std::string without_password() {
  std::string url = live_server::shared().tls_url();
  return url.replace(url.find("guest:guest"), 11, "nobody:wrong");
}

TEST(rabbitmq_tls, a_verified_server_is_spoken_to_as_any_other) {
  client c(over_tls(tls_options().ca_file(file("ca.pem"))));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  waiting_sink to;
  const std::string name = fresh_name("tls");
  const auto open = c.open(client::temporary(name), to);
  ASSERT_TRUE(open) << open.error().message();
  const auto confirming = c.pair(confirms());
  const std::string body(200'000, 't');
  ASSERT_TRUE(c.send(*confirming, name, body));
  incoming* m = to.next();
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(as_text(m->payload()), body);
  EXPECT_TRUE(settle(m));
  const auto closed = c.shutdown();
  ASSERT_TRUE(closed);
  EXPECT_TRUE(closed->handshake());
}

/// L2: what is not verified is not spoken to, and no password leaves the process.
TEST(rabbitmq_tls, L2_an_unknown_authority_or_another_name_is_refused) {
  client unknown(over_tls(tls_options()));
  ASSERT_FALSE(unknown.connected());
  EXPECT_EQ(unknown.failure(), millrace::errc::connect);
  EXPECT_NE(unknown.failure().message().find("certificate verify failed"), std::string::npos)
      << unknown.failure().message();
  client other(over_tls(tls_options().ca_file(file("ca.pem")).expected_hostname("elsewhere.example")));
  ASSERT_FALSE(other.connected());
  EXPECT_EQ(other.failure(), millrace::errc::connect);
  client named(over_tls(tls_options().ca_file(file("ca.pem")).expected_hostname("localhost")));
  EXPECT_TRUE(named.connected()) << named.failure().message();
  client careless(over_tls(tls_options().skip_verification()));
  EXPECT_TRUE(careless.connected()) << careless.failure().message();
}

TEST(rabbitmq_tls, files_that_are_not_there_are_named) {
  client authorities(over_tls(tls_options().ca_file("/nowhere/ca.pem")));
  ASSERT_FALSE(authorities.connected());
  EXPECT_NE(authorities.failure().message().find("/nowhere/ca.pem"), std::string::npos);
  client key(over_tls(tls_options().ca_file(file("ca.pem")).certificate(file("client.pem"), "/nowhere/key")));
  ASSERT_FALSE(key.connected());
  EXPECT_NE(key.failure().message().find("/nowhere/key"), std::string::npos);
}

/// SASL EXTERNAL: the certificate is the login, and the URI's is not used.
TEST(rabbitmq_tls, external_login_is_the_clients_certificate) {
  const tls_options how = tls_options().ca_file(file("ca.pem")).certificate(file("client.pem"), file("client.key"));
  client c(broker(without_password()).with_tls(how).external_login());
  ASSERT_TRUE(c.connected()) << c.failure().message();
  client nobody(broker(without_password()).with_tls(tls_options().ca_file(file("ca.pem"))).external_login());
  ASSERT_FALSE(nobody.connected());
  EXPECT_EQ(nobody.failure(), millrace::errc::connect);
  EXPECT_EQ(nobody.failure().message().find("wrong"), std::string::npos);
  client plain(broker(without_password()).with_tls(how));
  ASSERT_FALSE(plain.connected());
  EXPECT_EQ(plain.failure().server_code(), 403);
}

} // namespace
} // namespace millrace::rabbitmq::testing
