#include "meter.hpp"

#include <cstdio>

namespace bench {

std::string_view payload(std::size_t size) {
  static const std::string bytes(1024, 'b');
  return std::string_view(bytes).substr(0, size);
}

void meter::report() const {
  std::fprintf(stderr, "cpu=%.6f wall=%.6f messages=%zu sum=%llu\n", end_.cpu - start_.cpu, end_.wall - start_.wall,
               messages_, static_cast<unsigned long long>(sum_));
}

} // namespace bench
