#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/headers.hpp>
#include <millrace/outgoing.hpp>
#include <millrace/runtime.hpp>
#include <millrace/testing/published_view.hpp>
#include <millrace/testing/reply.hpp>
#include <millrace/testing/subscription_view.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::testing {

class harness;

/// One broker of the service under test. A publish stands for another sender's: it leaves through the broker's default
/// policy, untouched by the service's publish layers, and is recorded as published. In process it returns when the
/// entire reaction is quiescent: handlers, what they publish, on whichever broker, and so on; live, when the broker
/// accepted the message. Valid as long as its `test_service`; used from the test's thread.
class test_broker {
 public:
  test_broker(harness& of, std::size_t index) noexcept : harness_(&of), index_(index) {}

  /// Throws `publish_failed` if the broker refuses, `unfinished_reaction` if the reaction does not end.
  template <class Codec = json_codec, class T>
  receipt publish(std::string_view destination, const T& value, const header_map& headers = {}) const {
    return publish_text(destination, encoded<Codec>(destination, value), headers);
  }
  receipt publish_text(std::string_view destination, std::string_view payload, const header_map& headers = {}) const;
  receipt publish_bytes(std::string_view destination, bytes_view payload, const header_map& headers = {}) const {
    return publish_text(destination, as_text(payload), headers);
  }
  /// Answers the refusal instead of throwing it.
  result<receipt> try_publish(std::string_view destination, bytes_view payload, const header_map& headers = {}) const;

  /// Publishes and waits for one answer. In process the clock moves as far as the answer needs. Throws
  /// `request_failed`.
  template <class Codec = json_codec, class T> [[nodiscard]] reply request(std::string_view destination, const T& value,
                                                                           duration timeout = std::chrono::seconds(5),
                                                                           const header_map& headers = {}) const {
    return request_text(destination, encoded<Codec>(destination, value), timeout, headers);
  }
  [[nodiscard]] reply request_text(std::string_view destination, std::string_view payload,
                                   duration timeout = std::chrono::seconds(5), const header_map& headers = {}) const;
  /// Answers the failure instead of throwing it.
  result<reply> try_request(std::string_view destination, bytes_view payload, duration timeout,
                            const header_map& headers = {}) const;

  /// A subscription on this broker, by its registration's name.
  [[nodiscard]] subscription_view subscription(std::string_view name) const;
  /// What went to a destination on this broker.
  [[nodiscard]] published_view published(std::string_view destination) const;

 private:
  template <class Codec, class T>
  [[nodiscard]] static std::string encoded(std::string_view destination, const T& value) {
    std::string payload;
    if (auto done = Codec::encode(value, payload); !done) refuse(destination, std::move(done).error());
    return payload;
  }
  [[noreturn]] static void refuse(std::string_view destination, error why);

  harness* harness_;
  std::size_t index_;
};

} // namespace millrace::testing
