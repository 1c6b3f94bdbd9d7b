// TLS and SASL EXTERNAL on RabbitMQ, which asks for a client's certificate and takes its common name as the user.
#include "support/client.hpp"
#include "support/live_server.hpp"

#include <gtest/gtest.h>

namespace millrace::amqp::testing {
namespace {

live_server& server() {
  static live_server one("rabbitmq");
  return one;
}

std::string file(const std::string& name) { return server().word("folder") + "/" + name; }

tls_options trusting() { return tls_options().ca_file(file("ca.pem")); }

/// The address over TLS, with a password that would be refused.
std::string url_with_a_wrong_password() {
  std::string url = server().word("tls_url");
  return url.replace(url.find("guest:guest"), 11, "guest:hunter2");
}

void expect_a_round_trip(client& c) {
  const std::string address = "/queue/" + fresh_name("tls");
  waiting_sink to;
  const auto open = c.open(raw(address), to);
  ASSERT_TRUE(open) << open.error().message();
  const std::string large(200'000, 'x');
  ASSERT_TRUE(c.send(*c.pair(publish()), address, large));
  incoming* const m = to.next();
  EXPECT_EQ(text_of(m), large);
  EXPECT_TRUE(settle(m));
}

TEST(amqp_rabbitmq_tls, A2_an_authority_that_is_trusted_and_a_name_that_fits_are_needed) {
  const std::string url = server().word("tls_url");
  client trusted(broker(url).with_tls(trusting()));
  ASSERT_TRUE(trusted.connected()) << trusted.failure().message();
  expect_a_round_trip(trusted);
  client stranger{broker(url)};
  ASSERT_FALSE(stranger.connected());
  EXPECT_EQ(stranger.failure(), millrace::errc::connect);
  EXPECT_NE(stranger.failure().message().find("TLS"), std::string::npos) << stranger.failure().message();
  client misnamed(broker(url).with_tls(trusting().expected_hostname("elsewhere")));
  EXPECT_FALSE(misnamed.connected());
  client plain(broker("amqps://guest:guest@127.0.0.1:" + std::to_string(server().port()))
                   .with_tls(trusting())
                   .connect_timeout(500ms));
  EXPECT_FALSE(plain.connected()); // the other side does not speak TLS
}

/// The certificate is the login; the explicit profile wins over the URL's.
TEST(amqp_rabbitmq_tls, A1_A2_a_certificate_is_the_login) {
  const tls_options with_certificate = trusting().certificate(file("client.pem"), file("client.key"));
  client c(broker(url_with_a_wrong_password()).with_tls(with_certificate).with_sasl(sasl::external()));
  ASSERT_TRUE(c.connected()) << c.failure().message();
  expect_a_round_trip(c);
}

TEST(amqp_rabbitmq_tls, A2_external_without_a_certificate_is_refused) {
  client c(broker(server().word("tls_url")).with_tls(trusting()).with_sasl(sasl::external()));
  ASSERT_FALSE(c.connected());
  EXPECT_NE(c.failure().message().find("SASL"), std::string::npos) << c.failure().message();
}

TEST(amqp_rabbitmq_tls, A2_a_file_that_is_not_there_is_named) {
  for (const tls_options& how :
       {tls_options().ca_file("/no/such/file"), trusting().certificate("/no/such/file", file("client.key")),
        trusting().certificate(file("client.pem"), "/no/such/file")}) {
    client c(broker(server().word("tls_url")).with_tls(how));
    ASSERT_FALSE(c.connected());
    EXPECT_NE(c.failure().message().find("/no/such/file"), std::string::npos) << c.failure().message();
  }
}

} // namespace
} // namespace millrace::amqp::testing
