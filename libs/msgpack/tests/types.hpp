#pragma once

#include <millrace/msgpack.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// What the tests of the codec share.
namespace msgpack_test {

using namespace millrace;

struct order {
  std::uint64_t id = 0;
  std::string item;
  int quantity = 0;
  friend bool operator==(const order&, const order&) = default;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item, quantity))

enum class state { open, paid, cancelled };
BOOST_DESCRIBE_ENUM(state, open, paid, cancelled)

struct line {
  std::string sku;
  unsigned qty = 0;
  std::optional<double> price;
  friend bool operator==(const line&, const line&) = default;
};
BOOST_DESCRIBE_STRUCT(line, (), (sku, qty, price))

struct header {
  int version = 0;
  friend bool operator==(const header&, const header&) = default;
};
BOOST_DESCRIBE_STRUCT(header, (), (version))

struct invoice : header {
  state status = state::open;
  std::vector<line> lines;
  std::map<std::string, int> totals;
  std::optional<order> origin;
  std::array<float, 2> span{};
  std::unordered_map<std::string, std::vector<bool>> flags;
  friend bool operator==(const invoice&, const invoice&) = default;
};
BOOST_DESCRIBE_STRUCT(invoice, (header), (status, lines, totals, origin, span, flags))

struct tree {
  std::vector<tree> children;
};
BOOST_DESCRIBE_STRUCT(tree, (), (children))

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

inline invoice sample() {
  invoice made;
  made.version = -3;
  made.status = state::paid;
  made.lines = {{"screw", 12, 0.25}, {"nut", 70000, std::nullopt}};
  made.totals = {{"net", 10}, {"tax", -2}};
  made.origin = order{1ULL << 40, "cable", 2};
  made.span = {0.5F, -1e30F};
  made.flags = {{"odd", {true, false}}};
  return made;
}

template <class T> std::string encoded(const T& value) {
  std::string out;
  const auto done = msgpack_codec::encode(value, out);
  EXPECT_TRUE(done) << done.error().message();
  return out;
}

template <class T> T decoded(std::string_view document) {
  T value{};
  const auto done = msgpack_codec::decode(as_bytes(document), value);
  EXPECT_TRUE(done) << done.error().message();
  return value;
}

/// The context of the error.
template <class T> std::string refused(std::string_view document) {
  T value{};
  const auto done = msgpack_codec::decode(as_bytes(document), value);
  if (done) return "accepted";
  EXPECT_EQ(done.error(), errc::decode);
  return done.error().context();
}

/// Bytes written as numbers.
inline std::string raw(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes)
    out += static_cast<char>(b);
  return out;
}
inline std::string text(std::string_view s) { return static_cast<char>(0xa0 + s.size()) + std::string(s); }

} // namespace msgpack_test
