#include <millrace/sqlite/errors.hpp>

namespace millrace::sqlite {
namespace {

class sqlite_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "millrace.sqlite"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
    case errc::open:
      return "cannot open the database";
    case errc::busy:
      return "the database is busy";
    case errc::failed:
      return "the database failed";
    case errc::closed:
      return "closed";
    }
    return "unknown error";
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
    case errc::open:
      return millrace::make_error_condition(millrace::errc::connect);
    case errc::busy:
      return millrace::make_error_condition(millrace::errc::timeout);
    case errc::closed:
      return millrace::make_error_condition(millrace::errc::closed);
    case errc::failed:
      break;
    }
    return {value, *this};
  }
};

} // namespace

const std::error_category& category() noexcept {
  static const sqlite_category instance;
  return instance;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

} // namespace millrace::sqlite
