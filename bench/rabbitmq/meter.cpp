#include "meter.hpp"

#include <string>

namespace bench {

std::string_view payload(std::size_t size) {
  static const std::string bytes(1024, 'b');
  return std::string_view(bytes).substr(0, size);
}

} // namespace bench
