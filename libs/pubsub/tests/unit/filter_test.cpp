#include "cloud/filter.hpp"

namespace millrace::pubsub::detail {
namespace {

bool passes(const char* filter) {
  wire::PubsubMessage m;
  (*m.mutable_attributes())["region"] = "eu-west";
  (*m.mutable_attributes())["x-kind"] = "a \"b\"";
  const auto parsed = parse_filter(filter);
  EXPECT_TRUE(parsed.has_value()) << filter;
  return parsed && (*parsed)(m);
}

TEST(filter, the_language_of_the_service) {
  EXPECT_TRUE(passes(""));
  EXPECT_TRUE(passes("attributes:region"));
  EXPECT_FALSE(passes("attributes:zone"));
  EXPECT_TRUE(passes("attributes.region = \"eu-west\""));
  EXPECT_FALSE(passes("attributes.region != \"eu-west\""));
  EXPECT_TRUE(passes("hasPrefix(attributes.region, \"eu\")"));
  EXPECT_TRUE(passes("attributes.\"x-kind\" = \"a \\\"b\\\"\""));
  EXPECT_TRUE(passes("NOT attributes:zone AND attributes:region"));
  EXPECT_TRUE(passes("attributes:zone OR (attributes:region AND -attributes:zone)"));
  EXPECT_FALSE(passes("(attributes:zone)"));
}

TEST(filter, anything_else_is_refused) {
  for (const char* text : {"region", "attributes.", "attributes:region AND", "attributes.region = eu", "(attributes:a",
                           "attributes:a b", "hasPrefix(attributes.a)"})
    EXPECT_FALSE(parse_filter(text).has_value()) << text;
}

} // namespace
} // namespace millrace::pubsub::detail
