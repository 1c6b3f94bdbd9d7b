#include "types.hpp"

#include <cmath>
#include <limits>

namespace cbor_test {

static_assert(cbor_decodable<invoice> && cbor_encodable<invoice>);
static_assert(!cbor_decodable<std::string_view> && !cbor_decodable<int*> && !cbor_encodable<std::map<int, int>>);

TEST(CborRead, a_struct_is_a_map_of_its_members) {
  EXPECT_EQ(decoded<order>(raw({0xa3}) + text("id") + raw({0x18, 100}) + text("item") + text("tea") + text("quantity") +
                           raw({0x21})),
            (order{100, "tea", -2}));
}

TEST(CborRead, members_come_in_any_order_and_unknown_ones_are_ignored) {
  const auto unknown = text("more") + raw({0xa1, 0x82, 0x01, 0x9f, 0xf6, 0xff, 0x5f, 0x41, 0x00, 0xff}) + text("no") +
                       raw({0xc1, 0xfb, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(decoded<order>(raw({0xa5}) + text("quantity") + raw({5}) + unknown + text("item") + text("tea") +
                           text("id") + raw({1})),
            (order{1, "tea", 5}));
}

TEST(CborRead, keys_that_are_no_text_are_ignored_in_structs) {
  EXPECT_EQ(decoded<header>(raw({0xa3, 0x01, 0x02, 0x82, 0x01, 0x02, 0xf4}) + text("version") + raw({7})), header{7});
  EXPECT_EQ((refused<std::map<std::string, int>>(raw({0xa1, 0x01, 0x02}))),
            "expected a text, found an integer (byte 1)");
}

TEST(CborRead, indefinite_lengths) {
  const auto chunked = raw({0x7f}) + text("sk") + text("u") + raw({0xff});
  const auto document = raw({0x9f, 0xbf}) + chunked + raw({0x7f, 0xff}) + text("qty") + raw({0x02, 0xff, 0xff});
  EXPECT_EQ(decoded<std::vector<line>>(document), (std::vector<line>{{"", 2, std::nullopt}}));
  const auto paid = raw({0x7f}) + text("pa") + text("id") + raw({0xff});
  EXPECT_EQ(decoded<state>(paid), state::paid);
  EXPECT_EQ((decoded<std::map<std::string, int>>(raw({0xbf}) + chunked + raw({1, 0xff})).at("sku")), 1);
}

TEST(CborRead, an_optional_is_absent_null_or_undefined) {
  line used{"a", 1, 2.0};
  for (const auto& price : {std::string(), text("price") + raw({0xf6}), text("price") + raw({0xf7})}) {
    used.price = 2.0;
    const auto document = raw({price.empty() ? 0xa2 : 0xa3}) + text("sku") + text("b") + text("qty") + raw({1}) + price;
    ASSERT_TRUE(cbor_codec::decode(as_bytes(document), used));
    EXPECT_EQ(used, (line{"b", 1, std::nullopt}));
  }
}

TEST(CborRead, floating_point_of_every_width_and_integers) {
  EXPECT_EQ(decoded<double>(raw({0xf9, 0x3e, 0x00})), 1.5);
  EXPECT_EQ(decoded<double>(raw({0xfa, 0x47, 0xc3, 0x50, 0x00})), 100000.0);
  EXPECT_EQ(decoded<double>(raw({0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a})), 1.1);
  EXPECT_EQ(decoded<double>(raw({0x18, 0x64})), 100.0);
  EXPECT_EQ(decoded<float>(raw({0x29})), -10.0F);
  EXPECT_TRUE(std::isnan(decoded<float>(raw({0xf9, 0x7e, 0x00}))));
  EXPECT_EQ(decoded<float>(raw({0xf9, 0xfc, 0x00})), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(refused<float>(encoded(1e300)), "number out of range (byte 0)");
}

TEST(CborRead, integers_within_the_types_range) {
  EXPECT_EQ(decoded<std::uint64_t>(raw({0x1b, 255, 255, 255, 255, 255, 255, 255, 255})), ~std::uint64_t{0});
  EXPECT_EQ(decoded<std::int64_t>(raw({0x3b, 127, 255, 255, 255, 255, 255, 255, 255})),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(refused<std::int64_t>(raw({0x3b, 128, 0, 0, 0, 0, 0, 0, 0})), "number out of range (byte 0)");
  EXPECT_EQ(decoded<std::int8_t>(raw({0x38, 127})), -128);
  EXPECT_EQ(refused<std::int8_t>(raw({0x38, 128})), "number out of range (byte 0)");
  EXPECT_EQ(refused<std::uint8_t>(raw({0x19, 1, 0})), "number out of range (byte 0)");
  EXPECT_EQ(refused<unsigned>(raw({0x20})), "number out of range (byte 0)");
  EXPECT_EQ(refused<int>(raw({0xf9, 0x3c, 0x00})), "expected an integer, found a floating-point number (byte 0)");
}

TEST(CborRead, tags_are_ignored) {
  EXPECT_EQ(decoded<std::string>(raw({0xd9, 0xd9, 0xf7, 0xc0}) + text("2026")), "2026");
  EXPECT_EQ(refused<std::vector<int>>(raw({0x9f, 0xc1, 0xff})), "a tag without a value (byte 1)");
}

TEST(CborRead, an_error_names_the_member_by_its_path) {
  const auto good = encoded(sample());
  auto bad = good;
  bad.replace(bad.find("nut"), 3, "n\xffu");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("lines[1].sku: invalid UTF-8 (byte "));
  bad = good;
  bad[bad.find("cable") - 1] = 0x45;
  EXPECT_TRUE(refused<invoice>(bad).starts_with("origin.item: expected a text, found bytes (byte "));
  bad = good;
  bad.replace(bad.find("net"), 4, "net\xf5");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("totals.net: expected an integer, found a boolean (byte "));
  bad = good;
  bad.replace(bad.find("paid"), 4, "lost");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("status: unknown enumerator (byte "));
  bad = good;
  bad.replace(bad.find("qty"), 3, "xxx");
  EXPECT_TRUE(refused<invoice>(bad).starts_with("lines[0].qty: missing (byte "));
}

TEST(CborRead, std_array_takes_exactly_its_size) {
  EXPECT_EQ((decoded<std::array<int, 2>>(raw({0x82, 1, 2}))), (std::array<int, 2>{1, 2}));
  EXPECT_EQ((refused<std::array<int, 2>>(raw({0x81, 1}))), "too few elements (byte 2)");
  EXPECT_EQ((refused<std::array<int, 2>>(raw({0x83, 1, 2, 3}))), "too many elements (byte 3)");
}

TEST(CborRead, at_most_64_levels) {
  const auto nested = [](int levels) { return std::string(static_cast<std::size_t>(levels), '\x81') + raw({0x80}); };
  const auto unknown = raw({0xa1}) + text("x");
  EXPECT_EQ(refused<nothing>(unknown + nested(62)), "accepted");
  EXPECT_TRUE(refused<nothing>(unknown + nested(63)).starts_with("x: nested too deep"));
  EXPECT_TRUE(refused<nothing>(unknown + nested(100000)).starts_with("x: nested too deep"));
  std::string open;
  for (int i = 0; i != 1000; ++i)
    open += raw({0xa1}) + text("children") + raw({0x81});
  EXPECT_TRUE(refused<tree>(open).ends_with("nested too deep (byte 352)"));
}

TEST(CborRead, input_that_ends_too_early_or_too_late) {
  EXPECT_EQ(refused<order>(""), "empty input (byte 0)");
  EXPECT_EQ(refused<int>(raw({1, 2})), "trailing bytes after the document (byte 1)");
  EXPECT_EQ(refused<int>(raw({0xff})), "expected an integer, found an end mark (byte 0)");
  EXPECT_EQ(refused<int>(raw({0xfc})), "malformed (byte 0)");
  const auto whole = encoded(sample());
  for (std::size_t size = 1; size != whole.size(); ++size)
    EXPECT_TRUE(refused<invoice>(std::string_view(whole).substr(0, size)).contains("truncated input")) << size;
}

TEST(CborRead, promised_sizes_cost_nothing) {
  const auto huge = raw({0x9b, 255, 255, 255, 255, 255, 255, 255, 255, 1});
  EXPECT_EQ(refused<std::vector<int>>(huge), "[1]: truncated input (byte 10)");
  EXPECT_EQ(refused<nothing>(raw({0xbb, 255, 255, 255, 255, 255, 255, 255, 255})), "truncated input (byte 9)");
  EXPECT_EQ(refused<std::string>(raw({0x7b, 255, 255, 255, 255, 255, 255, 255, 255, 'a'})),
            "truncated input (byte 10)");
}

TEST(CborRead, a_reused_value_is_overwritten_and_keeps_what_it_has_allocated) {
  auto used = sample();
  used.lines.resize(5, line{"another", 1, 1.0});
  used.totals["old"] = 1;
  const auto* text_before = used.lines[0].sku.data();
  const auto* lines_before = used.lines.data();
  ASSERT_TRUE(cbor_codec::decode(as_bytes(encoded(sample())), used));
  EXPECT_EQ(used, sample());
  EXPECT_EQ(used.lines.data(), lines_before);
  EXPECT_EQ(used.lines[0].sku.data(), text_before);
}

TEST(CborRead, the_last_of_duplicate_members_counts) {
  EXPECT_EQ(decoded<header>(raw({0xa2}) + text("version") + raw({1}) + text("version") + raw({2})), header{2});
}

} // namespace cbor_test
