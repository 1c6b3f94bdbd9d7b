#include "json_types.hpp"

#include <cmath>
#include <limits>

namespace json_test {

TEST(Json, reads_a_described_struct) {
  const auto value = decoded<order>(R"({"id":12345,"item":"keyboard","quantity":3})");
  EXPECT_EQ(value.id, 12345U);
  EXPECT_EQ(value.item, "keyboard");
  EXPECT_EQ(value.quantity, 3);
}

TEST(Json, reads_members_in_any_order_and_with_whitespace) {
  const auto value = decoded<order>(" {\t\"quantity\" : 3 ,\r\n \"id\": 12345 , \"item\" :\"keyboard\" } \n");
  EXPECT_EQ(encoded(value), R"({"id":12345,"item":"keyboard","quantity":3})");
}

TEST(Json, reads_names_of_any_length) {
  const auto value = decoded<long_names>(
      R"({"a":1,"exactly_8":2,"a_name_of_more_than_sixteen_bytes":3,"a_name_of_more_than_sixteen_words":4})");
  EXPECT_EQ(value.a, 1);
  EXPECT_EQ(value.exactly_8, 2);
  EXPECT_EQ(value.a_name_of_more_than_sixteen_bytes, 3);
  EXPECT_EQ(value.a_name_of_more_than_sixteen_words, 4);
}

TEST(Json, reads_escaped_names) { EXPECT_EQ(decoded<order>(R"({"\u0069d":7,"item":"","quantity":1})").id, 7U); }

TEST(Json, reads_nested_structs_bases_enums_vectors_and_maps) {
  const auto value = decoded<invoice>(R"({"version":2,"status":"paid","lines":[{"sku":"a","qty":1,"price":2.5},
      {"sku":"b","qty":0}],"totals":{"net":10,"gross":12},"origin":{"id":1,"item":"x","quantity":-4},"express":true})");
  EXPECT_EQ(value.version, 2);
  EXPECT_EQ(value.status, state::paid);
  ASSERT_EQ(value.lines.size(), 2U);
  EXPECT_EQ(value.lines[0].price, 2.5);
  EXPECT_EQ(value.lines[1].price, std::nullopt);
  EXPECT_EQ(value.totals, (std::map<std::string, int>{{"gross", 12}, {"net", 10}}));
  EXPECT_EQ(value.origin->quantity, -4);
  EXPECT_TRUE(value.express);
}

TEST(Json, reads_structs_that_contain_themselves) {
  const auto value = decoded<tree>(R"({"value":1,"children":[{"value":2,"children":[]},{"value":3,"children":[]}]})");
  EXPECT_EQ(value.children.at(1).value, 3);
}

TEST(Json, reads_documents_that_are_not_objects) {
  EXPECT_EQ(decoded<int>("7"), 7);
  EXPECT_EQ(decoded<std::string>("\"x\""), "x");
  EXPECT_EQ(decoded<std::vector<bool>>("[true,false]"), (std::vector<bool>{true, false}));
  EXPECT_EQ(decoded<std::optional<int>>("null"), std::nullopt);
  EXPECT_EQ((decoded<std::unordered_map<std::string, float>>(R"({"a":1.5})").at("a")), 1.5F);
}

TEST(Json, reads_a_struct_without_members) {
  decoded<nothing>("{}");
  decoded<nothing>(R"({"more":1})");
  EXPECT_EQ(refused<nothing>("[]"), "expected an object, found an array (byte 0)");
}

TEST(Json, ignores_unknown_members) {
  const auto value = decoded<order>(R"({"x":null,"id":1,"y":{"id":[1,{"id":"\n\u00e9"},-0.5e+3,true,false]},
      "item":"a","z":[],"quantity":2,"w":{}})");
  EXPECT_EQ(encoded(value), R"({"id":1,"item":"a","quantity":2})");
}

TEST(Json, checks_unknown_members) {
  EXPECT_EQ(refused<nothing>(R"({"a":{"b":[1,01]}})"), "a.b[1]: malformed number (byte 13)");
  EXPECT_EQ(refused<nothing>(R"({"a":tru})"), "a: expected null, true or false (byte 5)");
  EXPECT_EQ(refused<nothing>(R"({"a":})"), "a: expected a value, found an unexpected byte (byte 5)");
  EXPECT_EQ(refused<nothing>("{\"a\":\"\xff\"}"), "a: invalid UTF-8 (byte 6)");
  EXPECT_EQ(refused<nothing>(R"({"a":"\x"})"), "a: bad escape (byte 6)");
}

TEST(Json, names_a_missing_member) {
  EXPECT_EQ(refused<order>(R"({"id":1,"quantity":3})"), "item: missing (byte 20)");
  EXPECT_EQ(refused<order>("{}"), "id: missing (byte 1)");
  EXPECT_EQ(refused<envelope>(R"({"order":{"version":1,"status":"open","lines":[{"sku":"a"}]}})"),
            "order.lines[0].qty: missing (byte 57)");
}

TEST(Json, names_a_wrong_type) {
  EXPECT_EQ(refused<order>(R"({"id":"1"})"), "id: expected an integer, found a string (byte 6)");
  EXPECT_EQ(refused<order>(R"({"id":1,"item":5})"), "item: expected a string, found a number (byte 15)");
  EXPECT_EQ(refused<invoice>(R"({"express":1})"), "express: expected a boolean, found a number (byte 11)");
  EXPECT_EQ(refused<invoice>(R"({"lines":{}})"), "lines: expected an array, found an object (byte 9)");
  EXPECT_EQ(refused<invoice>(R"({"totals":[]})"), "totals: expected an object, found an array (byte 10)");
  EXPECT_EQ(refused<invoice>(R"({"origin":true})"), "origin: expected an object, found a boolean (byte 10)");
  EXPECT_EQ(refused<invoice>(R"({"status":1})"),
            "status: expected the name of an enumerator, found a number (byte 10)");
  EXPECT_EQ(refused<double>("[]"), "expected a number, found an array (byte 0)");
}

TEST(Json, refuses_null_for_what_is_not_optional) {
  EXPECT_EQ(refused<order>(R"({"id":null})"), "id: expected an integer, found null (byte 6)");
  EXPECT_EQ(refused<order>(R"({"id":1,"item":null})"), "item: expected a string, found null (byte 15)");
}

TEST(Json, refuses_an_unknown_enumerator) {
  EXPECT_EQ(refused<invoice>(R"({"status":"Paid"})"), "status: unknown enumerator (byte 10)");
}

TEST(Json, names_a_number_out_of_range) {
  EXPECT_EQ(refused<envelope>(R"({"order":{"lines":[{"sku":"a","qty":1},{"sku":"b","qty":2},{"qty":-1}]}})"),
            "order.lines[2].qty: number out of range (byte 66)");
  EXPECT_EQ(refused<int>("1.5"), "number out of range: not an integer (byte 0)");
  EXPECT_EQ(refused<int>("1e3"), "number out of range: not an integer (byte 0)");
  EXPECT_EQ(refused<std::uint8_t>("256"), "number out of range (byte 0)");
  EXPECT_EQ(refused<std::int8_t>("-129"), "number out of range (byte 0)");
  EXPECT_EQ(refused<std::uint64_t>("18446744073709551616"), "number out of range (byte 0)");
  EXPECT_EQ(refused<std::int64_t>("-9223372036854775809"), "number out of range (byte 0)");
  EXPECT_EQ(refused<std::int64_t>("9223372036854775808"), "number out of range (byte 0)");
  EXPECT_EQ(refused<int>("1000000000000000000000000000000"), "number out of range (byte 0)");
  EXPECT_EQ(refused<double>("1e400"), "number out of range (byte 0)");
  EXPECT_EQ(refused<float>("-1e39"), "number out of range (byte 0)");
}

TEST(Json, reads_integers_up_to_their_limits) {
  EXPECT_EQ(decoded<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(decoded<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(decoded<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((decoded<std::vector<std::int8_t>>("[-128,127,0,-0]")), (std::vector<std::int8_t>{-128, 127, 0, 0}));
  EXPECT_EQ(decoded<unsigned>("-0"), 0U);
}

TEST(Json, refuses_malformed_numbers) {
  for (const std::string_view text :
       {"01", "-01", "-", "1.", ".5", "+1", "1e", "1e+", "0x10", "NaN", "-Infinity", "1.e5"}) {
    EXPECT_NE(refused<double>(text), "accepted") << text;
    EXPECT_NE(refused<int>(text), "accepted") << text;
    EXPECT_NE(refused<nothing>("{\"a\":" + std::string(text) + "}"), "accepted") << text;
  }
  EXPECT_EQ(refused<int>("01 "), "malformed number (byte 0)");
}

TEST(Json, reads_doubles_exactly) {
  EXPECT_EQ(decoded<double>("0.1"), 0.1);
  EXPECT_EQ(decoded<double>("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(decoded<double>("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(decoded<double>("-12E-1"), -1.2);
  EXPECT_TRUE(std::signbit(decoded<double>("-0")));
}

TEST(Json, rounds_what_is_too_small_to_zero) {
  EXPECT_EQ(decoded<double>("1e-400"), 0.0);
  EXPECT_EQ(decoded<double>("0.001e-999999999999"), 0.0);
  EXPECT_EQ(decoded<float>("1e-50"), 0.0F);
  EXPECT_EQ(refused<double>("1" + std::string(400, '0') + "e-1"), "number out of range (byte 0)");
  EXPECT_TRUE(std::signbit(decoded<double>("-1e-400")));
}

TEST(Json, refuses_documents_nested_too_deep) {
  EXPECT_EQ(refused<nothing>("{\"a\":" + nested(63) + "}"), "accepted");
  const auto context = refused<nothing>("{\"a\":" + nested(64) + "}");
  EXPECT_TRUE(context.starts_with("a[0][0]")) << context;
  EXPECT_TRUE(context.ends_with(": nested too deep (byte 68)")) << context;
  EXPECT_NE(refused<nothing>("{\"a\":" + nested(100'000) + "}"), "accepted");
  std::string self;
  for (int i = 0; i != 40; ++i)
    self += R"({"value":1,"children":[)";
  EXPECT_TRUE(refused<tree>(self).ends_with("nested too deep (byte 736)")) << refused<tree>(self);
}

TEST(Json, depth_is_not_used_up_by_siblings) {
  std::string many = "[";
  for (int i = 0; i != 200; ++i)
    many += R"({"value":1,"children":[],"more":[{}]},)";
  many.back() = ']';
  EXPECT_EQ(decoded<std::vector<tree>>(many).size(), 200U);
}

TEST(Json, refuses_trailing_bytes) {
  EXPECT_EQ(refused<int>("1 2"), "trailing bytes after the document (byte 2)");
  EXPECT_EQ(refused<nothing>("{}}"), "trailing bytes after the document (byte 2)");
  EXPECT_EQ(refused<nothing>(std::string_view("{}\0", 3)), "trailing bytes after the document (byte 2)");
}

TEST(Json, refuses_empty_input) {
  EXPECT_EQ(refused<order>(""), "empty input (byte 0)");
  EXPECT_EQ(refused<order>(" \n"), "empty input (byte 2)");
  EXPECT_EQ(refused<std::string>({}), "empty input (byte 0)");
}

TEST(Json, refuses_every_truncation) {
  const std::string document = R"({"version":2,"status":"paid","lines":[{"sku":"a\u00e9","qty":1,"price":2.5}],)"
                               R"("totals":{"net":10},"origin":null,"express":true,"more":[null,false,"\n",{"a":-1}]})";
  decoded<invoice>(document);
  for (std::size_t size = 0; size != document.size(); ++size) {
    const std::string cut = document.substr(0, size); // its own allocation: reading past it is an ASan report
    const auto context = refused<invoice>(cut);
    EXPECT_TRUE(context.contains(size == 0 ? "empty input" : "truncated input")) << cut << ": " << context;
  }
}

TEST(Json, refuses_malformed_structure) {
  EXPECT_EQ(refused<nothing>(R"({"a":1,})"), "expected a member name (byte 7)");
  EXPECT_EQ(refused<nothing>("{,}"), "expected a member name (byte 1)");
  EXPECT_EQ(refused<nothing>(R"({"a" 1})"), "expected ':' (byte 5)");
  EXPECT_EQ(refused<nothing>(R"({"a":1 "b":2})"), "expected ',' or '}' (byte 7)");
  EXPECT_EQ(refused<std::vector<int>>("[1 2]"), "expected ',' or ']' (byte 3)");
  EXPECT_EQ(refused<std::vector<int>>("[1,]"), "[1]: expected an integer, found an unexpected byte (byte 3)");
  EXPECT_EQ(refused<order>(R"({"id":1,"item":"","quantity":1,})"), "expected a member name (byte 31)");
  EXPECT_EQ(refused<order>(R"({"id":1}{)"), "item: missing (byte 7)");
  EXPECT_EQ(refused<order>("{\xef\xbb\xbf}"), "expected a member name (byte 1)");
}

TEST(Json, reads_escapes) {
  EXPECT_EQ(decoded<std::string>(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00")"),
            "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001f600");
  EXPECT_EQ(decoded<std::string>(R"("\u0000")"), std::string(1, '\0'));
}

TEST(Json, refuses_bad_escapes) {
  EXPECT_EQ(refused<line>(R"({"sku":"a\x"})"), "sku: bad escape (byte 9)");
  EXPECT_EQ(refused<line>(R"({"sku":"\u12g4"})"), "sku: bad escape (byte 12)");
  EXPECT_EQ(refused<line>(R"({"s\ku":""})"), "bad escape (byte 3)");
}

TEST(Json, refuses_lone_surrogates) {
  EXPECT_EQ(refused<line>(R"({"sku":"\ud83d"})"), "sku: lone surrogate (byte 8)");
  EXPECT_EQ(refused<line>(R"({"sku":"\ude00\ud83d"})"), "sku: lone surrogate (byte 8)");
  EXPECT_EQ(refused<line>(R"({"sku":"\ud83d\u0041"})"), "sku: lone surrogate (byte 8)");
  EXPECT_EQ(refused<line>(R"({"sku":"\ud83dxx"})"), "sku: lone surrogate (byte 8)");
}

TEST(Json, reads_utf8) {
  const std::string text = "gr\u00fc\u00dfe, \u4f60\u597d \U0001f680 and a longer tail of plain text";
  EXPECT_EQ(decoded<std::string>("\"" + text + "\""), text);
}

TEST(Json, refuses_invalid_utf8) {
  for (const std::string_view text :
       {"\x80", "\xc0\x80", "\xc3", "\xc3(", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xf0\x9f\x98"}) {
    for (const std::size_t before : {0U, 3U, 8U, 21U}) {
      const auto at = std::to_string(8 + before);
      EXPECT_EQ(refused<line>("{\"sku\":\"" + std::string(before, 'x') + std::string(text) + "\",\"qty\":1}"),
                "sku: invalid UTF-8 (byte " + at + ")");
    }
  }
  EXPECT_EQ(refused<nothing>("{\"\xff\":1}"), "invalid UTF-8 (byte 2)");
}

TEST(Json, refuses_control_characters_in_strings) {
  for (char c = 0; c != 0x20; ++c) {
    for (const std::size_t before : {0U, 7U, 8U, 30U}) {
      const auto text = "\"" + std::string(before, 'x') + std::string(1, c) + "padding\"";
      EXPECT_EQ(refused<std::string>(text), "control character in a string (byte " + std::to_string(1 + before) + ")");
    }
  }
  EXPECT_EQ(decoded<std::string>("\"\x7f\""), "\x7f");
}

TEST(Json, takes_the_last_of_duplicate_members) {
  const auto value = decoded<line>(R"({"sku":"a","qty":1,"price":1,"sku":"b","qty":2,"price":null})");
  EXPECT_EQ(value.sku, "b");
  EXPECT_EQ(value.qty, 2U);
  EXPECT_EQ(value.price, std::nullopt);
  EXPECT_EQ((decoded<std::map<std::string, std::vector<int>>>(R"({"a":[1,2],"a":[3]})").at("a")), std::vector<int>{3});
}

TEST(Json, overwrites_a_reused_value) {
  invoice value;
  value.lines.resize(3, line{"old", 9, 9.0});
  value.totals = {{"old", 1}, {"net", 5}};
  value.origin = order{1, "old", 1};
  value.express = true;
  const std::string_view document =
      R"({"version":1,"status":"open","lines":[{"sku":"new","qty":1}],"totals":{"net":2},"express":false})";
  ASSERT_TRUE(json_codec::decode(as_bytes(document), value));
  ASSERT_EQ(value.lines.size(), 1U);
  EXPECT_EQ(value.lines[0].sku, "new");
  EXPECT_EQ(value.lines[0].price, std::nullopt);
  EXPECT_EQ(value.totals, (std::map<std::string, int>{{"net", 2}}));
  EXPECT_EQ(value.origin, std::nullopt);
  EXPECT_FALSE(value.express);
}

TEST(Json, keeps_what_a_reused_value_has_allocated) {
  const std::string_view document = R"([{"sku":"a name that does not fit into the string itself","qty":1}])";
  std::vector<line> lines;
  ASSERT_TRUE(json_codec::decode(as_bytes(document), lines));
  const auto* const elements = lines.data();
  const auto* const text = lines[0].sku.data();
  ASSERT_TRUE(json_codec::decode(as_bytes(document), lines));
  EXPECT_EQ(lines.data(), elements);
  EXPECT_EQ(lines[0].sku.data(), text);

  std::map<std::string, std::string> map{{"key", "a name that does not fit into the string itself"}};
  const auto* const mapped = map.begin()->second.data();
  ASSERT_TRUE(json_codec::decode(as_bytes(R"({"other":"x"})"), map));
  EXPECT_EQ(map.at("other").data(), mapped);
}

TEST(Json, reads_maps_of_any_size_into_a_reused_value) {
  std::unordered_map<std::string, int> value;
  for (const int size : {40, 3, 0, 20}) {
    std::unordered_map<std::string, int> expected;
    for (int i = 0; i != size; ++i)
      expected.emplace("key" + std::to_string(i), i);
    ASSERT_TRUE(json_codec::decode(as_bytes(encoded(expected)), value));
    EXPECT_EQ(value, expected);
  }
}

TEST(Json, leaves_a_usable_value_after_a_failure) {
  auto value = decoded<invoice>(
      R"({"version":1,"status":"open","lines":[{"sku":"a","qty":1}],"totals":{"a":1,"b":2},"express":true})");
  ASSERT_FALSE(json_codec::decode(as_bytes(R"({"version":1,"totals":{"c":1,"d":"x"}})"), value));
  value.totals["e"] = 1;
  value.lines.emplace_back();
  ASSERT_TRUE(json_codec::decode(as_bytes(encoded(invoice{})), value));
  EXPECT_TRUE(value.totals.empty());
}

TEST(Json, arrays_have_their_exact_size) {
  EXPECT_EQ((decoded<std::array<int, 2>>("[1,2]")), (std::array{1, 2}));
  EXPECT_EQ((refused<std::array<int, 2>>("[1]")), "too few elements (byte 3)");
  EXPECT_EQ((refused<std::array<int, 2>>("[1,2,3]")), "too many elements (byte 5)");
  EXPECT_EQ((refused<std::array<int, 2>>("[1,\"\"]")), "[1]: expected an integer, found a string (byte 3)");
}

TEST(Json, names_from_the_peer_are_short_and_printable_in_errors) {
  const auto context = refused<std::map<std::string, int>>("{\"" + std::string(500, 'k') + "\":true}");
  EXPECT_EQ(context, std::string(64, 'k') + "...: expected an integer, found a boolean (byte 504)");
  EXPECT_TRUE((refused<std::map<std::string, int>>(R"({"a\nb":true})")).starts_with(R"(a\nb: )"));
}

} // namespace json_test
