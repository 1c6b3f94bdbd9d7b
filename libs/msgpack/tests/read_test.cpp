#include "types.hpp"

#include <cmath>
#include <limits>

namespace msgpack_test {

static_assert(msgpack_decodable<invoice> && msgpack_encodable<invoice>);
static_assert(!msgpack_decodable<std::string_view> && !msgpack_decodable<int*>);
static_assert(!msgpack_encodable<std::map<int, int>>);

TEST(MsgpackRead, a_struct_is_a_map_of_its_members) {
  EXPECT_EQ(decoded<order>(raw({0x83}) + text("id") + raw({0xcc, 200}) + text("item") + text("tea") + text("quantity") +
                           raw({0xfe})),
            (order{200, "tea", -2}));
}

TEST(MsgpackRead, members_come_in_any_order_and_unknown_ones_are_ignored) {
  const auto unknown =
      text("more") + raw({0x81, 0x92, 0x01, 0x91, 0xc0, 0xc4, 1, 0}) + text("no") + raw({0xcb, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(decoded<order>(raw({0x85}) + text("quantity") + raw({5}) + unknown + text("item") + text("tea") +
                           text("id") + raw({1})),
            (order{1, "tea", 5}));
}

TEST(MsgpackRead, keys_that_are_no_text_are_ignored_in_structs) {
  EXPECT_EQ(decoded<header>(raw({0x83, 0x01, 0x02, 0x92, 0x01, 0x02, 0xc2}) + text("version") + raw({7})), header{7});
  EXPECT_EQ((refused<std::map<std::string, int>>(raw({0x81, 0x01, 0x02}))),
            "expected a text, found an integer (byte 1)");
}

TEST(MsgpackRead, an_optional_is_absent_or_nil) {
  line used{"a", 1, 2.0};
  for (const auto& price : {std::string(), text("price") + raw({0xc0})}) {
    used.price = 2.0;
    const auto document = raw({price.empty() ? 0x82 : 0x83}) + text("sku") + text("b") + text("qty") + raw({1}) + price;
    ASSERT_TRUE(msgpack_codec::decode(as_bytes(document), used));
    EXPECT_EQ(used, (line{"b", 1, std::nullopt}));
  }
  EXPECT_EQ(refused<int>(raw({0xc0})), "expected an integer, found nil (byte 0)");
}

TEST(MsgpackRead, floating_point_of_both_widths_and_integers) {
  EXPECT_EQ(decoded<double>(raw({0xca, 0x47, 0xc3, 0x50, 0x00})), 100000.0);
  EXPECT_EQ(decoded<double>(raw({0xcb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a})), 1.1);
  EXPECT_EQ(decoded<double>(raw({0x64})), 100.0);
  EXPECT_EQ(decoded<float>(raw({0xf6})), -10.0F);
  EXPECT_TRUE(std::isnan(decoded<float>(raw({0xca, 0x7f, 0xc0, 0x00, 0x00}))));
  EXPECT_EQ(decoded<float>(raw({0xca, 0xff, 0x80, 0x00, 0x00})), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(refused<float>(encoded(1e300)), "number out of range (byte 0)");
}

TEST(MsgpackRead, integers_within_the_types_range) {
  EXPECT_EQ(decoded<std::uint64_t>(raw({0xcf, 255, 255, 255, 255, 255, 255, 255, 255})), ~std::uint64_t{0});
  EXPECT_EQ(decoded<std::int64_t>(raw({0xd3, 128, 0, 0, 0, 0, 0, 0, 0})), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(refused<std::int64_t>(raw({0xcf, 128, 0, 0, 0, 0, 0, 0, 0})), "number out of range (byte 0)");
  EXPECT_EQ(decoded<std::int8_t>(raw({0xd1, 255, 128})), -128);
  EXPECT_EQ(refused<std::int8_t>(raw({0xd1, 255, 127})), "number out of range (byte 0)");
  EXPECT_EQ(refused<std::uint8_t>(raw({0xcd, 1, 0})), "number out of range (byte 0)");
  EXPECT_EQ(refused<unsigned>(raw({0xff})), "number out of range (byte 0)");
  EXPECT_EQ(refused<int>(raw({0xca, 0, 0, 0, 0})), "expected an integer, found a floating-point number (byte 0)");
}

TEST(MsgpackRead, integers_in_longer_forms_than_they_need) {
  EXPECT_EQ(decoded<unsigned>(raw({0xd0, 5})), 5U);
  EXPECT_EQ(decoded<unsigned>(raw({0xd3, 0, 0, 0, 0, 0, 0, 0, 5})), 5U);
  EXPECT_EQ(decoded<std::int8_t>(raw({0xcf, 0, 0, 0, 0, 0, 0, 0, 5})), 5);
  EXPECT_EQ(decoded<int>(raw({0xd2, 255, 255, 255, 255})), -1);
}

TEST(MsgpackRead, bytes_and_extensions_are_ignored_with_their_member_and_refused_as_values) {
  const auto unknown = raw({0x81}) + text("x");
  struct opaque {
    std::string head;
    std::size_t size;
    std::string kind = "an extension";
  };
  const opaque values[] = {
      {raw({0xd4, 1}), 1},
      {raw({0xd5, 1}), 2},
      {raw({0xd6, 255}), 4},
      {raw({0xd7, 1}), 8},
      {raw({0xd8, 1}), 16},
      {raw({0xc7, 3, 1}), 3},
      {raw({0xc8, 1, 0, 1}), 256},
      {raw({0xc9, 0, 1, 0, 0, 1}), 65536},
      {raw({0xc4, 3}), 3, "bytes"},
      {raw({0xc5, 1, 0}), 256, "bytes"},
      {raw({0xc6, 0, 1, 0, 0}), 65536, "bytes"},
  };
  for (const auto& [head, size, kind] : values) {
    const auto whole = head + std::string(size, '\xc1');
    EXPECT_EQ(refused<nothing>(unknown + whole), "accepted");
    EXPECT_EQ(refused<std::string>(whole), "expected a text, found " + kind + " (byte 0)");
    const auto cut = unknown + whole.substr(0, whole.size() - 1);
    EXPECT_EQ(refused<nothing>(cut), "x: truncated input (byte " + std::to_string(cut.size()) + ")");
  }
}

TEST(MsgpackRead, an_error_names_the_member_by_its_path) {
  const auto good = encoded(sample());
  auto bad = good;
  bad.replace(bad.find("nut"), 3, "n\xffu");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("lines[1].sku: invalid UTF-8 (byte "));
  bad = good;
  bad.replace(bad.find("cable") - 1, 1, "\xc4\x05");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("origin.item: expected a text, found bytes (byte "));
  bad = good;
  bad.replace(bad.find("net"), 4, "net\xc3");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("totals.net: expected an integer, found a boolean (byte "));
  bad = good;
  bad.replace(bad.find("paid"), 4, "lost");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("status: unknown enumerator (byte "));
  bad = good;
  bad.replace(bad.find("qty"), 3, "xxx");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("lines[0].qty: missing (byte "));
}

TEST(MsgpackRead, std_array_takes_exactly_its_size) {
  EXPECT_EQ((decoded<std::array<int, 2>>(raw({0x92, 1, 2}))), (std::array<int, 2>{1, 2}));
  EXPECT_EQ((refused<std::array<int, 2>>(raw({0x91, 1}))), "too few elements (byte 1)");
  EXPECT_EQ((refused<std::array<int, 2>>(raw({0x93, 1, 2, 3}))), "too many elements (byte 1)");
}

TEST(MsgpackRead, at_most_64_levels) {
  const auto nested = [](int levels) { return std::string(static_cast<std::size_t>(levels), '\x91') + raw({0x90}); };
  const auto unknown = raw({0x81}) + text("x");
  EXPECT_EQ(refused<nothing>(unknown + nested(62)), "accepted");
  EXPECT_TRUE(refused<nothing>(unknown + nested(63)).starts_with("x: nested too deep"));
  EXPECT_TRUE(refused<nothing>(unknown + nested(100000)).starts_with("x: nested too deep"));
  std::string open;
  for (int i = 0; i != 1000; ++i)
    open += raw({0x81}) + text("children") + raw({0x91});
  EXPECT_TRUE(refused<tree>(open).ends_with("nested too deep (byte 352)"));
  const std::vector<tree> side_by_side(1000, tree{{tree{}}});
  EXPECT_EQ(decoded<tree>(encoded(tree{side_by_side})).children.size(), 1000U);
  EXPECT_EQ(refused<nothing>(encoded(tree{side_by_side})), "accepted");
}

TEST(MsgpackRead, input_that_ends_too_early_or_too_late) {
  EXPECT_EQ(refused<order>(""), "empty input (byte 0)");
  EXPECT_EQ(refused<int>(raw({1, 2})), "trailing bytes after the document (byte 1)");
  EXPECT_EQ(refused<int>(raw({0xc1})), "malformed (byte 0)");
  const auto whole = encoded(sample());
  for (std::size_t size = 1; size != whole.size(); ++size)
    EXPECT_TRUE(refused<invoice>(std::string_view(whole).substr(0, size)).contains("truncated input")) << size;
}

TEST(MsgpackRead, promised_sizes_cost_nothing) {
  EXPECT_EQ(refused<std::vector<int>>(raw({0xdd, 255, 255, 255, 255, 1})), "[1]: truncated input (byte 6)");
  EXPECT_EQ(refused<nothing>(raw({0xdf, 255, 255, 255, 255})), "truncated input (byte 5)");
  EXPECT_EQ(refused<nothing>(raw({0x81, 0xa1, 'x', 0xdf, 255, 255, 255, 255})), "x: truncated input (byte 8)");
  EXPECT_EQ(refused<std::string>(raw({0xdb, 255, 255, 255, 255, 'a'})), "truncated input (byte 6)");
}

TEST(MsgpackRead, a_reused_value_is_overwritten_and_keeps_what_it_has_allocated) {
  auto used = sample();
  used.lines.resize(5, line{"another", 1, 1.0});
  used.totals["old"] = 1;
  const auto* text_before = used.lines[0].sku.data();
  const auto* lines_before = used.lines.data();
  ASSERT_TRUE(msgpack_codec::decode(as_bytes(encoded(sample())), used));
  EXPECT_EQ(used, sample());
  EXPECT_EQ(used.lines.data(), lines_before);
  EXPECT_EQ(used.lines[0].sku.data(), text_before);
}

TEST(MsgpackRead, the_last_of_duplicate_members_counts) {
  EXPECT_EQ(decoded<header>(raw({0x82}) + text("version") + raw({1}) + text("version") + raw({2})), header{2});
}

} // namespace msgpack_test
