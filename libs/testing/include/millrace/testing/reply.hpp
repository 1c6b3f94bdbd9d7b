#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/outgoing.hpp>
#include <millrace/testing/errors.hpp>

#include <string_view>
#include <utility>

namespace millrace::testing {

/// The answer to a request of the test.
class reply : public reply_message {
 public:
  explicit reply(reply_message message) noexcept : reply_message(std::move(message)) {}

  /// Decoded; throws `expectation_failed` if it does not decode.
  template <class T, class Codec = json_codec> [[nodiscard]] T as() const {
    T value{};
    if (auto decoded = Codec::decode(as_bytes(payload), value); !decoded) {
      throw expectation_failed("the reply " + payload + " does not decode: " + decoded.error().message());
    }
    return value;
  }
  [[nodiscard]] std::string_view text() const noexcept { return payload; }
};

} // namespace millrace::testing
