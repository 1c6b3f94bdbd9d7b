#pragma once

#include <millrace/millrace.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// What the tests of the codecs write and read.
namespace millrace::test_support {

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

/// Bytes written as numbers.
inline std::string raw(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes)
    out += static_cast<char>(b);
  return out;
}

/// The document with some bytes changed, taken out, put in or repeated.
inline std::string mutated(std::string document, std::minstd_rand& random) {
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random()) % below; };
  for (auto changes = 1 + any(4); changes != 0 && !document.empty(); --changes) {
    const auto at = any(document.size());
    switch (any(4)) {
    case 0:
      document[at] = static_cast<char>(any(256));
      break;
    case 1:
      document.erase(at, 1 + any(6));
      break;
    case 2:
      document.insert(at, 1 + any(3), static_cast<char>(any(256)));
      break;
    default:
      document.insert(at, document.substr(any(document.size()), any(12)));
    }
  }
  return document;
}

} // namespace millrace::test_support
