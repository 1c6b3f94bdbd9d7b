#include <millrace/pubsub/errors.hpp>

namespace millrace::pubsub {
namespace {

millrace::errc common(errc e) noexcept {
  switch (e) {
  case errc::connect:
    return millrace::errc::connect;
  case errc::admin:
  case errc::receive:
    return millrace::errc::subscribe;
  case errc::publish:
    return millrace::errc::publish;
  case errc::not_connected:
    return millrace::errc::closed;
  case errc::invalid_descriptor:
  case errc::delay_beyond_lease:
    return millrace::errc::invalid_options;
  case errc::queue_full:
    return millrace::errc::queue_full;
  case errc::shutdown:
    return millrace::errc::shutdown;
  }
  return millrace::errc::connect;
}

class pubsub_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "pubsub"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
    case errc::connect:
      return "cannot connect";
    case errc::admin:
      return "cannot look up, create or update";
    case errc::receive:
      return "cannot receive";
    case errc::publish:
      return "cannot publish";
    case errc::not_connected:
      return "not connected";
    case errc::invalid_descriptor:
      return "invalid descriptor";
    case errc::delay_beyond_lease:
      return "the delay is longer than the lease";
    case errc::queue_full:
      return "too much is waiting to be published";
    case errc::shutdown:
      return "not flushed";
    }
    return "unknown";
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    return make_error_condition(common(static_cast<errc>(value)));
  }

  [[nodiscard]] bool equivalent(int value, const std::error_condition& other) const noexcept override {
    const bool unconnected = static_cast<errc>(value) == errc::not_connected;
    if (unconnected && other == make_error_condition(millrace::errc::not_connected)) return true;
    return default_error_condition(value) == other;
  }
};

} // namespace

const std::error_category& category() noexcept {
  static const pubsub_category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

} // namespace millrace::pubsub
