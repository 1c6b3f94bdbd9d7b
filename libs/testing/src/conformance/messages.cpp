#include "messages.hpp"

#include "failure.hpp"

namespace millrace::testing::conformance {

header_map sample_headers() {
  header_map headers;
  headers.set("Content-Type", "text/plain; charset=utf-8");
  headers.set("X-Order-Id", "order 17, part 2 of 3");
  headers.set("lower-case", "a=b;c=d");
  headers.set("UPPER-CASE", "\"quoted\": {braces}");
  headers.set("x-long", std::string(500, 'v'));
  return headers;
}

void expect_headers(const header_map& seen, const header_map& wanted) {
  for (const auto& [name, value] : wanted) {
    const auto found = seen.get(name);
    expect(found.has_value(), "the header '" + std::string(name) + "' did not arrive");
    expect(*found == value, "the header '" + std::string(name) + "' arrived as '" + std::string(*found) +
                                "' and was sent as '" + std::string(value) + "'");
  }
}

std::string all_bytes() {
  std::string bytes;
  for (int b = 0; b < 256; ++b)
    bytes.push_back(static_cast<char>(b));
  return bytes;
}

} // namespace millrace::testing::conformance
