#include "types.hpp"

#include <cmath>
#include <limits>

namespace cbor_test {

TEST(CborWrite, content_type) { EXPECT_EQ(cbor_codec::content_type, "application/cbor"); }

TEST(CborWrite, a_struct_is_a_map_of_its_members) {
  EXPECT_EQ(encoded(order{500, "tea", -1}), raw({0xa3}) + text("id") + raw({0x19, 0x01, 0xf4}) + text("item") +
                                                text("tea") + text("quantity") + raw({0x20}));
  EXPECT_EQ(encoded(nothing{}), raw({0xa0}));
}

TEST(CborWrite, appends) {
  std::string out = "x";
  ASSERT_TRUE(cbor_codec::encode(7, out));
  EXPECT_EQ(out, "x\x07");
}

// the examples of RFC 8949, appendix A
TEST(CborWrite, integers_take_their_shortest_form) {
  EXPECT_EQ(encoded(23), raw({0x17}));
  EXPECT_EQ(encoded(24), raw({0x18, 24}));
  EXPECT_EQ(encoded(1000000), raw({0x1a, 0x00, 0x0f, 0x42, 0x40}));
  EXPECT_EQ(encoded(~std::uint64_t{0}), raw({0x1b, 255, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(encoded(-1000), raw({0x39, 0x03, 0xe7}));
  EXPECT_EQ(encoded(std::numeric_limits<std::int64_t>::min()), raw({0x3b, 127, 255, 255, 255, 255, 255, 255, 255}));
}

TEST(CborWrite, floating_point_keeps_its_width) {
  EXPECT_EQ(encoded(1.1), raw({0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}));
  EXPECT_EQ(encoded(100000.0F), raw({0xfa, 0x47, 0xc3, 0x50, 0x00}));
  EXPECT_TRUE(std::isnan(decoded<double>(encoded(std::numeric_limits<double>::quiet_NaN()))));
}

TEST(CborWrite, an_empty_optional_is_left_out_as_a_member_and_null_elsewhere) {
  EXPECT_EQ(encoded(line{"a", 1, std::nullopt}), raw({0xa2}) + text("sku") + text("a") + text("qty") + raw({1}));
  EXPECT_EQ(encoded(std::vector<std::optional<int>>{1, std::nullopt}), raw({0x82, 1, 0xf6}));
}

TEST(CborWrite, everything_reads_back) { EXPECT_EQ(decoded<invoice>(encoded(sample())), sample()); }

TEST(CborWrite, what_cannot_be_written_is_an_encode_error_that_names_the_member) {
  std::string out = "kept";
  const auto why = [&](const auto& value) {
    const auto done = cbor_codec::encode(value, out);
    if (done) return std::string("written");
    EXPECT_EQ(done.error(), errc::encode);
    EXPECT_EQ(out, "kept");
    return done.error().context();
  };
  auto value = sample();
  value.lines[1].sku = "\xff";
  EXPECT_EQ(why(value), "lines[1].sku: invalid UTF-8");
  value = sample();
  value.status = static_cast<state>(99);
  EXPECT_EQ(why(value), "status: the value is not an enumerator");
  EXPECT_EQ(why(std::map<std::string, int>{{"\xed\xa0\x80", 1}}), "?\?\?: invalid UTF-8");
  tree root;
  for (int i = 0; i != 32; ++i)
    root.children = std::vector<tree>(1, root);
  EXPECT_TRUE(why(root).ends_with("nested too deep"));
}

} // namespace cbor_test
