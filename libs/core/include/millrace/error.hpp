#pragma once

#include <expected>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace millrace {

/// The conditions that every library's own error codes map to. Compare with `e == errc::closed`.
enum class errc {
  closed = 1,      ///< the handle outlived its connection (lifecycle L4)
  not_connected,   ///< used before the service or the broker connected
  connect,         ///< the server could not be reached, or refused the connection
  subscribe,       ///< the subscription could not be opened, or was lost for good
  publish,         ///< the message was refused, or its acceptance is unknown
  timeout,         ///< a bounded wait ran out
  unsupported,     ///< the transport has no such operation; not a failure of the service
  invalid_options, ///< a descriptor, option, name or header that no server would accept
  decode,          ///< the payload is not what the handler's type says
  encode,          ///< the value cannot be written in the codec's format
  shutdown,        ///< the orderly close did not take place
  cancelled,       ///< the wait was given up because the service stops
  queue_full,      ///< a bounded queue had no room within the wait
  handler,         ///< a handler failed and its policy is fail_fast
};

/// The category of `errc`, as codes and as conditions.
[[nodiscard]] const std::error_category& core_category() noexcept;
[[nodiscard]] std::error_condition make_error_condition(errc e) noexcept;

} // namespace millrace

template <> struct std::is_error_condition_enum<millrace::errc> : std::true_type {};

namespace millrace {

/// What went wrong, with what: a code, the thing it happened to (subject, queue, address, member), and the server's own
/// words. A plain value; carries no credential.
class error {
 public:
  error(errc kind, std::string context);
  error(std::error_code code, std::string context);
  error(const error& other);
  error(error&&) noexcept = default;
  error& operator=(const error& other);
  error& operator=(error&&) noexcept = default;
  ~error() = default;

  /// Adds the peer's own code and text.
  [[nodiscard]] error&& from_server(int code, std::string text) &&;
  /// Puts the place where the error passed through in front of the context.
  [[nodiscard]] error&& at(std::string_view place) &&;

  [[nodiscard]] const std::error_code& code() const noexcept { return code_; }
  [[nodiscard]] const std::string& context() const noexcept;
  [[nodiscard]] int server_code() const noexcept;
  [[nodiscard]] const std::string& server_text() const noexcept;

  /// One line: what, where, and what the server said.
  [[nodiscard]] std::string message() const;

  friend bool operator==(const error& e, errc kind) noexcept {
    if (&e.code_.category() == &core_category()) return e.code_.value() == static_cast<int>(kind);
    return e.code_ == make_error_condition(kind);
  }
  friend bool operator==(const error& e, const std::error_code& code) noexcept { return e.code_ == code; }

 private:
  struct details;
  struct discard {
    void operator()(details* what) const noexcept;
  };
  [[nodiscard]] details& more();

  std::error_code code_;
  std::unique_ptr<details, discard> more_; ///< small where a success is expected: most results carry no error
};

/// What a fallible operation answers.
template <class T> using result = std::expected<T, error>;

/// `return fail(errc::closed, "orders");`
[[nodiscard]] inline std::unexpected<error> fail(errc kind, std::string context) {
  return std::unexpected<error>(std::in_place, kind, std::move(context));
}
[[nodiscard]] inline std::unexpected<error> fail(std::error_code code, std::string context) {
  return std::unexpected<error>(std::in_place, code, std::move(context));
}
[[nodiscard]] inline std::unexpected<error> fail(error e) { return std::unexpected<error>(std::move(e)); }

} // namespace millrace
