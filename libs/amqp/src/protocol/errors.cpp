#include <millrace/amqp/errors.hpp>

#include <array>

namespace millrace::amqp {
namespace {

struct meaning {
  errc code;
  const char* text;
  millrace::errc common;
  millrace::errc other; ///< a second condition that holds as well
};

constexpr std::array meanings{
    meaning{errc::connect, "cannot connect", millrace::errc::connect, millrace::errc::connect},
    meaning{errc::session, "session refused or ended", millrace::errc::connect, millrace::errc::connect},
    meaning{errc::attach, "attach refused", millrace::errc::subscribe, millrace::errc::publish},
    meaning{errc::detach, "cannot detach", millrace::errc::shutdown, millrace::errc::shutdown},
    meaning{errc::publish, "cannot publish", millrace::errc::publish, millrace::errc::publish},
    meaning{errc::not_accepted, "not accepted", millrace::errc::publish, millrace::errc::publish},
    meaning{errc::receive, "subscription lost", millrace::errc::subscribe, millrace::errc::subscribe},
    meaning{errc::unsupported_body, "unsupported body", millrace::errc::decode, millrace::errc::decode},
    meaning{errc::request_timeout, "no reply in time", millrace::errc::timeout, millrace::errc::timeout},
    meaning{errc::closed, "closed", millrace::errc::closed, millrace::errc::not_connected},
    meaning{errc::invalid_address, "invalid address", millrace::errc::invalid_options, millrace::errc::invalid_options},
    meaning{errc::invalid_options, "invalid options", millrace::errc::invalid_options, millrace::errc::invalid_options},
    meaning{errc::transaction, "transaction failed", millrace::errc::publish, millrace::errc::publish},
    meaning{errc::timeout, "timed out", millrace::errc::timeout, millrace::errc::timeout},
};

const meaning* find(int value) noexcept {
  for (const meaning& m : meanings)
    if (static_cast<int>(m.code) == value) return &m;
  return nullptr;
}

class amqp_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "amqp"; }

  [[nodiscard]] std::string message(int value) const override {
    const meaning* const m = find(value);
    return m != nullptr ? m->text : "unknown error";
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    const meaning* const m = find(value);
    return make_error_condition(m != nullptr ? m->common : millrace::errc::connect);
  }

  [[nodiscard]] bool equivalent(int value, const std::error_condition& condition) const noexcept override {
    if (default_error_condition(value) == condition) return true;
    const meaning* const m = find(value);
    return m != nullptr && condition == make_error_condition(m->other);
  }
};

} // namespace

const std::error_category& category() noexcept {
  static const amqp_category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

} // namespace millrace::amqp
