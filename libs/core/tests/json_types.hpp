#pragma once

#include "support/tested_codec.hpp"

#include <millrace/codec/json.hpp>

namespace json_test {

using namespace millrace;

struct order {
  std::uint64_t id = 0;
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item, quantity))

enum class state { open, paid, cancelled };
BOOST_DESCRIBE_ENUM(state, open, paid, cancelled)

struct line {
  std::string sku;
  unsigned qty = 0;
  std::optional<double> price;
};
BOOST_DESCRIBE_STRUCT(line, (), (sku, qty, price))

struct header {
  int version = 0;
};
BOOST_DESCRIBE_STRUCT(header, (), (version))

struct invoice : header {
  state status = state::open;
  std::vector<line> lines;
  std::map<std::string, int> totals;
  std::optional<order> origin;
  bool express = false;
};
BOOST_DESCRIBE_STRUCT(invoice, (header), (status, lines, totals, origin, express))

struct envelope {
  invoice order;
};
BOOST_DESCRIBE_STRUCT(envelope, (), (order))

struct tree {
  int value = 0;
  std::vector<tree> children;
};
BOOST_DESCRIBE_STRUCT(tree, (), (value, children))

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

struct long_names {
  int a = 0;
  int exactly_8 = 0;
  int a_name_of_more_than_sixteen_bytes = 0;
  int a_name_of_more_than_sixteen_words = 0;
};
BOOST_DESCRIBE_STRUCT(long_names, (),
                      (a, exactly_8, a_name_of_more_than_sixteen_bytes, a_name_of_more_than_sixteen_words))

struct undescribed {
  int value;
};
struct borrows {
  std::string_view text;
};
BOOST_DESCRIBE_STRUCT(borrows, (), (text))

static_assert(json_decodable<invoice> && json_encodable<invoice>);
static_assert(json_decodable<tree> && json_decodable<std::unordered_map<std::string, std::array<tree, 2>>>);
static_assert(!json_decodable<undescribed> && !json_encodable<std::vector<undescribed>>);
static_assert(!json_decodable<std::string_view> && !json_decodable<borrows>);
static_assert(!json_decodable<char> && !json_decodable<int*> && !json_decodable<std::map<int, int>>);

using codec = test_support::tested_codec<json_codec>;
template <class T> std::string encoded(const T& value) { return codec::encoded(value); }
template <class T> T decoded(std::string_view document) { return codec::decoded<T>(document); }
template <class T> std::string refused(std::string_view document) { return codec::refused<T>(document); }

inline std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

} // namespace json_test
