#pragma once

#include <millrace/error.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::testing::conformance {

/// Ends a check: the broker did not do what it promises.
class failure final : public std::exception {
 public:
  explicit failure(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

inline void expect(bool holds, std::string_view otherwise) {
  if (!holds) throw failure(std::string(otherwise));
}

template <class T> T value_of(result<T> r, std::string_view what) {
  if (!r) throw failure(std::string(what) + ": " + r.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

/// `r` is an error of this kind, whose text contains `mention`.
template <class T>
void expect_error(const result<T>& r, errc kind, std::string_view what, std::string_view mention = {}) {
  const std::string wanted = make_error_condition(kind).message();
  if (r) throw failure(std::string(what) + " succeeded instead of answering \"" + wanted + "\"");
  if (!(r.error() == kind)) {
    throw failure(std::string(what) + " answered \"" + r.error().message() + "\" instead of \"" + wanted + "\"");
  }
  if (!r.error().message().contains(mention)) {
    throw failure(std::string(what) + " answered \"" + r.error().message() + "\", which does not name '" +
                  std::string(mention) + "'");
  }
}

} // namespace millrace::testing::conformance
