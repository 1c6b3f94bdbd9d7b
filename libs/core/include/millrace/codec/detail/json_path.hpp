#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::detail {

/// Where in a document an operation failed, as `lines[2].qty`. Built from the inside out, and only after a failure.
class json_path {
 public:
  [[gnu::cold]] void within(std::string_view member);
  [[gnu::cold]] void within(std::size_t index);
  /// `what`, with the path in front of it if there is one.
  [[gnu::cold]] [[nodiscard]] std::string describe(std::string_view what) const;

 private:
  void prepend(std::string step);

  std::string text_;
};

} // namespace millrace::detail
