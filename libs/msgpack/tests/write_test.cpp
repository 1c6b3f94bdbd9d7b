#include "types.hpp"

#include <cmath>
#include <limits>

namespace msgpack_test {

TEST(MsgpackWrite, content_type) { EXPECT_EQ(msgpack_codec::content_type, "application/msgpack"); }

TEST(MsgpackWrite, a_struct_is_a_map_of_its_members) {
  EXPECT_EQ(encoded(order{500, "tea", -1}), raw({0x83}) + text("id") + raw({0xcd, 0x01, 0xf4}) + text("item") +
                                                text("tea") + text("quantity") + raw({0xff}));
  EXPECT_EQ(encoded(nothing{}), raw({0x80}));
}

TEST(MsgpackWrite, appends) {
  std::string out = "x";
  ASSERT_TRUE(msgpack_codec::encode(7, out));
  EXPECT_EQ(out, "x\x07");
}

TEST(MsgpackWrite, integers_take_their_shortest_form) {
  EXPECT_EQ(encoded(127), raw({0x7f}));
  EXPECT_EQ(encoded(128), raw({0xcc, 0x80}));
  EXPECT_EQ(encoded(1000000), raw({0xce, 0x00, 0x0f, 0x42, 0x40}));
  EXPECT_EQ(encoded(~std::uint64_t{0}), raw({0xcf, 255, 255, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(encoded(-32), raw({0xe0}));
  EXPECT_EQ(encoded(-33), raw({0xd0, 0xdf}));
  EXPECT_EQ(encoded(-1000), raw({0xd1, 0xfc, 0x18}));
  EXPECT_EQ(encoded(-100000), raw({0xd2, 0xff, 0xfe, 0x79, 0x60}));
  EXPECT_EQ(encoded(std::numeric_limits<std::int64_t>::min()), raw({0xd3, 128, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(MsgpackWrite, every_integer_width_reads_back) {
  for (int shift = 0; shift != 64; ++shift) {
    const auto edge = std::uint64_t{1} << shift;
    for (const auto value : {edge - 1, edge, edge + 1}) {
      EXPECT_EQ(decoded<std::uint64_t>(encoded(value)), value);
      const auto negative = static_cast<std::int64_t>(~value | std::uint64_t{1} << 63);
      EXPECT_EQ(decoded<std::int64_t>(encoded(negative)), negative);
    }
  }
}

TEST(MsgpackWrite, floating_point_keeps_its_width) {
  EXPECT_EQ(encoded(1.1), raw({0xcb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a}));
  EXPECT_EQ(encoded(100000.0F), raw({0xca, 0x47, 0xc3, 0x50, 0x00}));
  EXPECT_TRUE(std::isnan(decoded<double>(encoded(std::numeric_limits<double>::quiet_NaN()))));
}

TEST(MsgpackWrite, texts_arrays_and_maps_of_every_head_read_back) {
  EXPECT_EQ(encoded(std::string(32, 'a')).substr(0, 2), raw({0xd9, 32}));
  EXPECT_EQ(encoded(std::vector<int>(16)).substr(0, 3), raw({0xdc, 0, 16}));
  for (const std::size_t size : {0U, 15U, 16U, 31U, 32U, 255U, 256U, 65535U, 65536U}) {
    const std::string characters(size, 'a');
    EXPECT_EQ(decoded<std::string>(encoded(characters)), characters);
    const std::vector<int> numbers(size, -1);
    EXPECT_EQ(decoded<std::vector<int>>(encoded(numbers)), numbers);
    std::map<std::string, bool> map;
    for (std::size_t i = 0; i != size; ++i)
      map[std::to_string(i)] = i % 2 == 0;
    EXPECT_EQ((decoded<std::map<std::string, bool>>(encoded(map))), map);
    EXPECT_EQ(refused<nothing>(encoded(map)), "accepted");
  }
}

TEST(MsgpackWrite, an_empty_optional_is_left_out_as_a_member_and_nil_elsewhere) {
  EXPECT_EQ(encoded(line{"a", 1, std::nullopt}), raw({0x82}) + text("sku") + text("a") + text("qty") + raw({1}));
  EXPECT_EQ(encoded(std::vector<std::optional<int>>{1, std::nullopt}), raw({0x92, 1, 0xc0}));
}

TEST(MsgpackWrite, everything_reads_back) { EXPECT_EQ(decoded<invoice>(encoded(sample())), sample()); }

TEST(MsgpackWrite, what_cannot_be_written_is_an_encode_error_that_names_the_member) {
  std::string out = "kept";
  const auto why = [&](const auto& value) {
    const auto done = msgpack_codec::encode(value, out);
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

} // namespace msgpack_test
