#include <millrace/rabbitmq/errors.hpp>

namespace millrace::rabbitmq {
namespace {

millrace::errc common(errc e) noexcept {
  switch (e) {
  case errc::connect:
    return millrace::errc::connect;
  case errc::publish:
  case errc::request:
    return millrace::errc::publish;
  case errc::subscribe:
  case errc::consume:
  case errc::declare:
    return millrace::errc::subscribe;
  case errc::request_timeout:
  case errc::timeout:
    return millrace::errc::timeout;
  case errc::closed:
    return millrace::errc::closed;
  case errc::invalid_options:
    return millrace::errc::invalid_options;
  }
  return millrace::errc::connect;
}

class rabbitmq_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "rabbitmq"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
    case errc::connect:
      return "cannot connect";
    case errc::publish:
      return "cannot publish";
    case errc::subscribe:
      return "cannot subscribe";
    case errc::consume:
      return "consumer lost";
    case errc::declare:
      return "cannot declare";
    case errc::request:
      return "cannot request";
    case errc::request_timeout:
      return "no reply in time";
    case errc::closed:
      return "closed";
    case errc::invalid_options:
      return "invalid options";
    case errc::timeout:
      return "timed out";
    }
    return "unknown error";
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    return make_error_condition(common(static_cast<errc>(value)));
  }
};

} // namespace

const std::error_category& category() noexcept {
  static const rabbitmq_category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

} // namespace millrace::rabbitmq
