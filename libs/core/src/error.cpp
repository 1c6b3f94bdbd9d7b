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

struct error::details {
  std::string context;
  std::string server_text;
  int server_code = 0;
};

namespace {
const std::string none;
}

error::error(errc kind, std::string context)
    : error(std::error_code(static_cast<int>(kind), core_category()), std::move(context)) {}

error::error(std::error_code code, std::string context) : code_(code) {
  if (!context.empty()) more().context = std::move(context);
}

error::error(const error& other) : code_(other.code_) {
  if (other.more_) more_.reset(new details(*other.more_));
}

error& error::operator=(const error& other) {
  error copy(other);
  return *this = std::move(copy);
}

error::details& error::more() {
  if (!more_) more_.reset(new details);
  return *more_;
}

void error::discard::operator()(details* what) const noexcept { delete what; }

const std::string& error::context() const noexcept { return more_ ? more_->context : none; }
const std::string& error::server_text() const noexcept { return more_ ? more_->server_text : none; }
int error::server_code() const noexcept { return more_ ? more_->server_code : 0; }

error&& error::from_server(int code, std::string text) && {
  more().server_code = code;
  more().server_text = std::move(text);
  return std::move(*this);
}

error&& error::at(std::string_view place) && {
  std::string& c = more().context;
  c = c.empty() ? std::string(place) : std::string(place) + ": " + c;
  return std::move(*this);
}

std::string error::message() const {
  std::string text = code_.message();
  if (!context().empty()) text += ": " + context();
  if (!server_text().empty() || server_code() != 0) {
    text += " (server: ";
    if (server_code() != 0) text += std::to_string(server_code()) + " ";
    text += server_text() + ")";
  }
  return text;
}

} // namespace millrace
