#include <millrace/error.hpp>

namespace millrace {
namespace {

class core_category_type final : public std::error_category {
 public:
  const char* name() const noexcept override { return "millrace"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
    case errc::closed:
      return "closed";
    case errc::not_connected:
      return "not connected";
    case errc::connect:
      return "cannot connect";
    case errc::subscribe:
      return "cannot subscribe";
    case errc::publish:
      return "cannot publish";
    case errc::timeout:
      return "timed out";
    case errc::unsupported:
      return "not supported by this transport";
    case errc::invalid_options:
      return "invalid options";
    case errc::decode:
      return "cannot decode";
    case errc::encode:
      return "cannot encode";
    case errc::shutdown:
      return "shutdown incomplete";
    case errc::cancelled:
      return "cancelled";
    case errc::queue_full:
      return "queue full";
    case errc::handler:
      return "handler failed";
    }
    return "unknown error";
  }
};

} // namespace

const std::error_category& core_category() noexcept {
  static const core_category_type category;
  return category;
}

std::error_condition make_error_condition(errc e) noexcept { return {static_cast<int>(e), core_category()}; }

error::error(errc kind, std::string context)
    : code_(static_cast<int>(kind), core_category()), context_(std::move(context)) {}

error::error(std::error_code code, std::string context) : code_(code), context_(std::move(context)) {}

error&& error::from_server(int code, std::string text) && {
  server_code_ = code;
  server_text_ = std::move(text);
  return std::move(*this);
}

error&& error::at(std::string_view place) && {
  context_ = context_.empty() ? std::string(place) : std::string(place) + ": " + context_;
  return std::move(*this);
}

std::string error::message() const {
  std::string text = code_.message();
  if (!context_.empty()) text += ": " + context_;
  if (!server_text_.empty() || server_code_ != 0) {
    text += " (server: ";
    if (server_code_ != 0) text += std::to_string(server_code_) + " ";
    text += server_text_ + ")";
  }
  return text;
}

} // namespace millrace
