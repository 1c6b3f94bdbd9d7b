#pragma once

#include <millrace/task.hpp>
#include <millrace/testing/conformance/broker_kit.hpp>

#include <span>
#include <string>
#include <string_view>

namespace millrace::testing::conformance {

class stage;

/// What a check says of a broker.
struct verdict {
  enum class kind : std::uint8_t { passed, failed, not_applicable };
  kind what = kind::passed;
  std::string text; ///< why not

  [[nodiscard]] explicit operator bool() const noexcept { return what != kind::failed; }
};

/// One thing that a broker promises. Plain data; `run` needs no test framework.
struct check {
  std::string_view suite; ///< lifecycle, settlement, retry, request_reply, batches, keyed_lanes, transactions, seek
  std::string_view name;
  std::string_view rules; ///< of docs/lifecycle.md, separated by spaces: "L3 L4"; empty: none of them
  std::string_view needs; ///< what the broker must have, in words; empty: nothing
  bool (*applies)(const broker_kit&);
  task<void> (*body)(stage&);

  /// Blocks, on a runtime of its own and under names that nobody else uses. Bounded: a broker that does not answer is a
  /// failure, and what hangs in it is left behind.
  [[nodiscard]] verdict run(const kit_ptr& kit) const;
};

/// Every check there is, in the order of the suites.
[[nodiscard]] std::span<const check> checks();

/// Some check that applies to this kit proves the rule.
[[nodiscard]] bool proves(const broker_kit& kit, std::string_view rule);

} // namespace millrace::testing::conformance
