#include <millrace/nats/errors.hpp>

namespace millrace::nats {
namespace {

millrace::errc common(errc e) noexcept {
  switch (e) {
  case errc::connect:
    return millrace::errc::connect;
  case errc::publish:
    return millrace::errc::publish;
  case errc::subscribe:
  case errc::jetstream:
    return millrace::errc::subscribe;
  case errc::request_timeout:
    return millrace::errc::timeout;
  case errc::closed:
    return millrace::errc::closed;
  case errc::shutdown:
    return millrace::errc::shutdown;
  case errc::invalid_options:
    return millrace::errc::invalid_options;
  case errc::disconnected:
    return millrace::errc::not_connected;
  }
  return millrace::errc::connect;
}

class nats_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "nats"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
    case errc::connect:
      return "cannot connect";
    case errc::publish:
      return "cannot publish";
    case errc::subscribe:
      return "cannot subscribe";
    case errc::jetstream:
      return "JetStream";
    case errc::request_timeout:
      return "no answer in time";
    case errc::closed:
      return "connection closed";
    case errc::shutdown:
      return "not drained";
    case errc::invalid_options:
      return "invalid options";
    case errc::disconnected:
      return "disconnected";
    }
    return "unknown";
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    return make_error_condition(common(static_cast<errc>(value)));
  }

  [[nodiscard]] bool equivalent(int value, const std::error_condition& other) const noexcept override {
    if (static_cast<errc>(value) == errc::jetstream && other == make_error_condition(millrace::errc::publish))
      return true;
    return default_error_condition(value) == other;
  }
};

} // namespace

const std::error_category& category() noexcept {
  static const nats_category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

} // namespace millrace::nats
