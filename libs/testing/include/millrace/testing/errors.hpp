#pragma once

#include <millrace/error.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace millrace::testing {

/// An expectation on the record of a service does not hold. The message says where, what was expected, what was there,
/// and lists what was recorded. Every test framework that reports exceptions shows it.
class expectation_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The test could not go on: what the harness was asked for did not happen. `why` is the error behind it.
class harness_error : public std::runtime_error {
 public:
  explicit harness_error(error why) : std::runtime_error(why.message()), why_(std::move(why)) {}
  [[nodiscard]] const error& why() const noexcept { return why_; }

 private:
  error why_;
};

/// The service did not start; the message is the error that `service::start` would answer.
class start_failed : public harness_error {
 public:
  using harness_error::harness_error;
};

/// A publish of the test was refused.
class publish_failed : public harness_error {
 public:
  using harness_error::harness_error;
};

/// A request of the test got no answer: `errc::timeout`, `errc::publish` (nobody listens), `errc::closed`.
class request_failed : public harness_error {
 public:
  using harness_error::harness_error;
};

/// A reaction does not end: a loop that feeds itself, outside work that outlasts its bound, or a wait for something
/// that cannot happen.
class unfinished_reaction : public harness_error {
 public:
  using harness_error::harness_error;
};

/// `wait_for` reached its bound. The message names what was awaited.
class wait_timed_out : public harness_error {
 public:
  using harness_error::harness_error;
};

/// No broker, or no subscription, is called that. The message lists those that there are.
class unknown_name : public harness_error {
 public:
  using harness_error::harness_error;
};

/// Several brokers, or several subscriptions, could be meant. The message lists them.
class ambiguous_name : public harness_error {
 public:
  using harness_error::harness_error;
};

} // namespace millrace::testing
