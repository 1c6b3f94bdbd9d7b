#pragma once

#include "round.hpp"

#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <cstdint>
#include <map>
#include <string_view>

namespace bench_cost {

using queue = millrace::publisher<millrace::memory::publish>;
using scope = millrace::scope<millrace::memory::broker, void>;

/// What is counted.
enum class counted : std::uint8_t {
  draining, ///< from the first message in the handler to the last
  filling,  ///< the publishes
  asking,   ///< requests, one after the other, from the question to the answer
};

struct scenario {
  void (*subscribe)(scope& on);
  millrace::task<void> (*fill)(queue, std::size_t messages);
  counted what = counted::draining;
};

[[nodiscard]] const std::map<std::string_view, scenario>& scenarios();

inline round current;
inline std::uint64_t sum = 0; ///< what the handlers read, so that it must be read

} // namespace bench_cost
