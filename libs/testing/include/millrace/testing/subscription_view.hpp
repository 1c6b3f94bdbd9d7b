#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/outcome.hpp>
#include <millrace/testing/detail/value.hpp>
#include <millrace/testing/record.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

/// What was recorded of one subscription: expectations, which chain and throw `expectation_failed`, and the raw
/// material. A payload that did not decode is no call of the handler, but is looked at like one. It reads the record
/// anew at each call, from any thread, and may outlive the `test_service`.
///
///     t.subscription("orders").called_once().with(order{1, "tea"}).settled(millrace::ack());
class subscription_view {
 public:
  subscription_view(std::shared_ptr<const recorder> record, record_filter of) noexcept
      : record_(std::move(record)), of_(std::move(of)) {}

  /// The handler was called `n` times. A batch is one call, a payload that did not decode is none.
  const subscription_view& called(std::size_t n) const;
  const subscription_view& called_once() const { return called(1); }
  const subscription_view& not_called() const { return called(0); }

  /// The most recent call was for this value alone: its payload is decoded and compared, with `==` or, for described
  /// structs without one, member by member. A larger batch fails, and says its size.
  template <class Codec = json_codec, std::default_initializable T>
  const subscription_view& with(const T& value) const {
    const std::string expected = wording(detail::show_value(value));
    const recorded_delivery last = sole("a delivery with " + expected);
    T actual{};
    auto decoded = Codec::decode(as_bytes(last.payload), actual);
    if (decoded && detail::same_value(value, actual)) return *this;
    payload_differs(expected, last, decoded);
  }
  /// The most recent call was for exactly these bytes.
  const subscription_view& with_text(std::string_view payload) const;
  const subscription_view& with_bytes(bytes_view payload) const { return with_text(as_text(payload)); }
  /// The message of the most recent call had this header.
  const subscription_view& header(std::string_view name, std::string_view value) const;

  /// Everything in the most recent call was settled like this: `millrace::ack()`, `millrace::retry_after(5s)`, ….
  const subscription_view& settled(const outcome& how) const;
  /// Everything in the most recent call was left unsettled, so that the broker redelivers it.
  const subscription_view& left_unsettled() const;
  /// Everything in the most recent call ended like this.
  const subscription_view& assert_outcome(outcome_kind kind) const;
  /// The most recent call was the `n`th attempt at its message.
  const subscription_view& attempts(std::uint32_t n) const;

  /// The values that the handler was called with, in order. Throws `expectation_failed` if one does not decode as `T`.
  template <class T, class Codec = json_codec> [[nodiscard]] std::vector<T> received() const {
    std::vector<T> values;
    for (const recorded_delivery& d : deliveries()) {
      if (!d.reached_handler()) continue;
      if (auto decoded = Codec::decode(as_bytes(d.payload), values.emplace_back()); !decoded) undecodable(d, decoded);
    }
    return values;
  }
  /// The payloads that the handler was called with, in order.
  [[nodiscard]] std::vector<std::string> received_text() const;
  /// How many messages each call had, in order.
  [[nodiscard]] std::vector<std::size_t> batch_sizes() const;
  /// How each delivery ended, in order; those that did not decode included.
  [[nodiscard]] std::vector<outcome_kind> outcomes() const;
  /// Every delivery, in order; those that did not decode included.
  [[nodiscard]] std::vector<recorded_delivery> deliveries() const { return record_->deliveries(of_); }

 private:
  static std::string wording(const std::string& shown) { return shown.empty() ? "the expected value" : shown; }
  [[nodiscard]] std::vector<recorded_delivery> latest(const std::string& expected) const;
  [[nodiscard]] recorded_delivery sole(const std::string& expected) const;
  [[noreturn]] void payload_differs(const std::string& expected, const recorded_delivery& last,
                                    const result<void>& decoded) const;
  [[noreturn]] void undecodable(const recorded_delivery& d, const result<void>& decoded) const;
  [[noreturn]] void failed(const std::string& expected, const std::string& actual) const;

  std::shared_ptr<const recorder> record_;
  record_filter of_;
};

} // namespace millrace::testing
