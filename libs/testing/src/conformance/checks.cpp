#include <millrace/testing/conformance/checks.hpp>

#include "suites.hpp"

#include <algorithm>

namespace millrace::testing::conformance {
namespace {

/// `rules` is a list of words.
bool names(std::string_view rules, std::string_view rule) {
  while (!rules.empty()) {
    const std::size_t end = std::min(rules.find(' '), rules.size());
    if (rules.substr(0, end) == rule) return true;
    rules.remove_prefix(std::min(end + 1, rules.size()));
  }
  return false;
}

} // namespace

std::span<const check> checks() {
  static const std::vector<check> all = [] {
    std::vector<check> made;
    add_lifecycle(made);
    add_shutdown(made);
    add_settlement(made);
    add_retry(made);
    add_request_reply(made);
    add_batches(made);
    add_keyed_lanes(made);
    add_transactions(made);
    add_seek(made);
    return made;
  }();
  return all;
}

bool proves(const broker_kit& kit, std::string_view rule) {
  return std::ranges::any_of(checks(), [&](const check& c) { return names(c.rules, rule) && c.applies(kit); });
}

} // namespace millrace::testing::conformance
