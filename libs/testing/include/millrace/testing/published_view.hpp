#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/testing/detail/value.hpp>
#include <millrace/testing/record.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

/// What was published to one destination: by publishers, replies, retry copies and dead letters of the service, and by
/// the test itself. A message counts when it is handed to the broker. Expectations chain and throw
/// `expectation_failed`. It reads the record anew at each call, from any thread, and may outlive the `test_service`.
///
///     t.published("orders.dead").once().with(order{1, "tea"}).header("reason", "spent");
class published_view {
 public:
  published_view(std::shared_ptr<const recorder> record, record_filter of) noexcept
      : record_(std::move(record)), of_(std::move(of)) {}

  const published_view& count(std::size_t n) const;
  const published_view& once() const { return count(1); }
  const published_view& none() const { return count(0); }

  /// The most recent message carried this value; compared as in `subscription_view::with`.
  template <class Codec = json_codec, std::default_initializable T> const published_view& with(const T& value) const {
    const std::string expected = wording(detail::show_value(value));
    const recorded_publish last = latest("a message with " + expected);
    T actual{};
    auto decoded = Codec::decode(as_bytes(last.payload), actual);
    if (decoded && detail::same_value(value, actual)) return *this;
    payload_differs(expected, last, decoded);
  }
  /// The most recent message carried exactly these bytes.
  const published_view& with_text(std::string_view payload) const;
  const published_view& with_bytes(bytes_view payload) const { return with_text(as_text(payload)); }
  /// The most recent message had this header.
  const published_view& header(std::string_view name, std::string_view value) const;

  /// The values, in order. Throws `expectation_failed` if one does not decode as `T`.
  template <class T, class Codec = json_codec> [[nodiscard]] std::vector<T> payloads() const {
    std::vector<T> values;
    for (const recorded_publish& p : messages()) {
      if (auto decoded = Codec::decode(as_bytes(p.payload), values.emplace_back()); !decoded) undecodable(p, decoded);
    }
    return values;
  }
  [[nodiscard]] std::vector<std::string> texts() const;
  [[nodiscard]] std::vector<recorded_publish> messages() const { return record_->publishes(of_); }

 private:
  static std::string wording(const std::string& shown) { return shown.empty() ? "the expected value" : shown; }
  [[nodiscard]] recorded_publish latest(const std::string& expected) const;
  [[noreturn]] void payload_differs(const std::string& expected, const recorded_publish& last,
                                    const result<void>& decoded) const;
  [[noreturn]] void undecodable(const recorded_publish& p, const result<void>& decoded) const;
  [[noreturn]] void failed(const std::string& expected, const std::string& actual) const;

  std::shared_ptr<const recorder> record_;
  record_filter of_;
};

} // namespace millrace::testing
