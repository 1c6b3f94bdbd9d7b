#include "meter.hpp"

#include <unistd.h>

#include <cstdio>

namespace bench {

std::string order_document() {
  const std::string head =
      R"({"id":12345,"customer":"customer-4711","item":"keyboard","quantity":3,"price":49.90,"note":")";
  return head + std::string(512 - head.size() - 2, 'n') + "\"}";
}

std::string consumer_name() { return "bench-" + std::to_string(::getpid()); }

void meter::credit(int n) noexcept {
  static constexpr char credits[first_credits] = {};
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, credits, static_cast<std::size_t>(n));
}

void meter::ready() { credit(first_credits); }

void meter::report() const {
  std::fprintf(stderr, "cpu=%.6f wall=%.6f messages=%zu sum=%llu\n", end_.cpu - start_.cpu, end_.wall - start_.wall,
               messages_, static_cast<unsigned long long>(sum_));
}

} // namespace bench
