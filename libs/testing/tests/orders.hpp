#pragma once

#include <millrace/millrace.hpp>

#include <cstdint>
#include <exception>
#include <string>

namespace testing_test {

struct order {
  std::uint64_t id = 0;
  std::string item;
  bool operator==(const order&) const = default;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

/// Runs `f` and answers what it throws, which must be an `Error`.
template <class Error, class F> std::string thrown(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing was thrown";
}

} // namespace testing_test
