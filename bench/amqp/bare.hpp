#pragma once

#include <proton/connection_options.hpp>

#include <string>

namespace bench::bare {

/// Host and port, and the login that the benchmark's servers have.
struct address {
  explicit address(const std::string& url);
  [[nodiscard]] proton::connection_options options() const;
  std::string where, user, password;
};

} // namespace bench::bare
