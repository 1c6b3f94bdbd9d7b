#include "json_types.hpp"

#include <cmath>
#include <limits>

namespace json_test {

TEST(Json, writes_a_described_struct) {
  EXPECT_EQ(encoded(order{12345, "keyboard", -3}), R"({"id":12345,"item":"keyboard","quantity":-3})");
  EXPECT_EQ(encoded(nothing{}), "{}");
  std::string out = "kept:";
  ASSERT_TRUE(json_codec::encode(7, out));
  EXPECT_EQ(out, "kept:7");
}

TEST(Json, writes_nested_structs_bases_enums_vectors_and_maps) {
  invoice value;
  value.version = 2;
  value.status = state::cancelled;
  value.lines = {{"a", 1, 0.1}, {"b", 2, std::nullopt}};
  value.totals = {{"net", 10}, {"tax", 2}};
  EXPECT_EQ(encoded(value),
            R"({"version":2,"status":"cancelled","lines":[{"sku":"a","qty":1,"price":0.1},{"sku":"b","qty":2}],)"
            R"("totals":{"net":10,"tax":2},"express":false})");
}

TEST(Json, writes_empty_optionals_as_null_outside_structs) {
  EXPECT_EQ(encoded(std::vector<std::optional<int>>{1, std::nullopt}), "[1,null]");
  EXPECT_EQ(encoded(std::vector<std::string>{}), "[]");
}

TEST(Json, escapes_only_what_must_be) {
  EXPECT_EQ(encoded(std::string("a\"\\\n\t\x01\x1f/\x7f\u00e9,")), "\"a\\\"\\\\\\n\\t\\u0001\\u001f/\x7f\u00e9,\"");
}

TEST(Json, writes_text_of_any_size_with_anything_at_any_place) {
  for (std::size_t size = 0; size != 40; ++size) {
    EXPECT_EQ(encoded(std::string(size, 'x')), '"' + std::string(size, 'x') + '"');
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '\n';
      EXPECT_EQ(encoded(text), '"' + std::string(at, 'x') + "\\n" + std::string(size - at - 1, 'x') + '"');
      text.replace(at, 1, "\u00e9");
      EXPECT_EQ(encoded(text), '"' + text + '"');
    }
  }
}

TEST(Json, writes_integers_of_every_size) {
  std::uint64_t power = 1;
  for (std::size_t digits = 1; digits <= 20; ++digits, power *= 10) {
    for (const std::uint64_t value : {power - 1, power, power + 1, power * 9})
      EXPECT_EQ(encoded(value), std::to_string(value));
    const auto negative = -static_cast<std::int64_t>(power / 3);
    EXPECT_EQ(encoded(negative), std::to_string(negative));
  }
}

TEST(Json, writes_the_shortest_numbers_that_read_back) {
  EXPECT_EQ(encoded(0.1), "0.1");
  EXPECT_EQ(encoded(0.1F), "0.1");
  EXPECT_EQ(encoded(1e300), "1e+300");
  EXPECT_EQ(encoded(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(encoded(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(encoded(std::vector<bool>{true, false}), "[true,false]");
}

TEST(Json, refuses_to_write_what_json_cannot_say) {
  const auto context = [](const auto& value) {
    std::string out = "kept";
    const auto done = json_codec::encode(value, out);
    EXPECT_EQ(out, "kept");
    if (done) return std::string("accepted");
    EXPECT_EQ(done.error(), errc::encode);
    return done.error().context();
  };
  invoice value;
  value.lines.resize(700, line{"long enough to be flushed", 1, 1.0});
  value.lines[650].price = std::nan("");
  EXPECT_EQ(context(value), "lines[650].price: neither NaN nor an infinity has a JSON form");
  value.lines[650] = line{"bad \xff", 1, std::nullopt};
  EXPECT_EQ(context(value), "lines[650].sku: invalid UTF-8");
  value.status = static_cast<state>(99);
  EXPECT_EQ(context(value), "status: the value is not an enumerator");
  EXPECT_EQ(context(std::map<std::string, float>{{"a", -INFINITY}}), "a: neither NaN nor an infinity has a JSON form");
  EXPECT_EQ(context(std::map<std::string, int>{{"\xc3", 1}}), "?: invalid UTF-8");
  tree root;
  for (int i = 0; i != 40; ++i)
    root = tree{1, std::vector<tree>(1, root)};
  EXPECT_TRUE(context(root).ends_with("nested too deep"));
}

TEST(Json, reads_back_what_it_writes) {
  for (std::size_t size = 0; size < 1100; size += 13) {
    std::map<std::string, std::vector<std::string>> value;
    value[std::string(size, 'k')] = {std::string(size, '"'), std::string(size, 'x') + "\u20ac", "",
                                     std::string(size / 2, ',')};
    value["numbers"] = std::vector<std::string>(size / 100, "17");
    EXPECT_EQ((decoded<std::map<std::string, std::vector<std::string>>>(encoded(value))), value);
  }
}

} // namespace json_test
