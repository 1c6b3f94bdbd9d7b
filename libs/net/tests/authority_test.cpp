#include <millrace/net/authority.hpp>

#include <gtest/gtest.h>

namespace millrace::net {
namespace {

constexpr authority_defaults absent{.port = 5672, .host = "localhost"};

TEST(net_authority, login_and_hosts_are_decoded_and_defaults_filled_in) {
  const auto full = parse_authority("us%40er:p%2fw%3A@[::1]:5673,tw%6F", absent);
  ASSERT_TRUE(full) << full.error();
  ASSERT_TRUE(full->login);
  EXPECT_EQ(full->login->user, "us@er");
  EXPECT_EQ(full->login->password, "p/w:");
  ASSERT_EQ(full->hosts.size(), 2U);
  EXPECT_EQ(full->hosts[0].host, "::1");
  EXPECT_EQ(full->hosts[0].text(), "[::1]:5673");
  EXPECT_EQ(full->hosts[1].text(), "two:5672");
  EXPECT_EQ(describe_hosts("amqp", full->hosts), "amqp://[::1]:5673,two:5672");
}

TEST(net_authority, what_may_be_absent_is) {
  const auto least = parse_authority("", absent);
  ASSERT_TRUE(least) << least.error();
  EXPECT_FALSE(least->login);
  EXPECT_EQ(describe_hosts("x", least->hosts), "x://localhost:5672");
  const auto user_alone = parse_authority("me@h:", absent);
  ASSERT_TRUE(user_alone && user_alone->login);
  EXPECT_EQ(user_alone->login->user, "me");
  EXPECT_EQ(user_alone->login->password, "");
  EXPECT_EQ(user_alone->hosts[0].text(), "h:5672");
  EXPECT_EQ(parse_authority("", {.port = 1}).error(), "a host is missing");
}

TEST(net_authority, what_does_not_parse_is_told_without_the_login) {
  const std::pair<const char*, const char*> cases[] = {
      {"u:secret@h:0", "port"},   {"u:secret@h:65536", "port"}, {"u:secret@h:5x", "port"}, {"u:secret@h:5:6", "port"},
      {"u:secret@[::1", "']'"},   {"u:secret@[::1]5", "']'"},   {"u:secret%@h", "login"},  {"u:secret%2@h", "login"},
      {"u:secret%2g@h", "login"}, {"u:secret@h%", "host"},      {"u:secret@a,b:x", "port"}};
  for (const auto& [text, named] : cases) {
    const auto refused = parse_authority(text, absent);
    ASSERT_FALSE(refused) << text;
    EXPECT_NE(refused.error().find(named), std::string::npos) << refused.error();
    EXPECT_EQ(refused.error().find("secret"), std::string::npos) << text;
  }
  EXPECT_FALSE(parse_authority("a,,b", {.port = 1}));
}

} // namespace
} // namespace millrace::net
