#pragma once

#include <millrace/error.hpp>

#include <system_error>

namespace millrace::sqlite {

/// What went wrong. The error's context names the file and the operation; `server_code` and `server_text` are SQLite's
/// extended result code and text.
enum class errc {
  open = 1, ///< the file cannot be opened, is no database, or cannot be written; also `millrace::errc::connect`
  busy,     ///< another connection held the file for longer than `busy_timeout`; also `millrace::errc::timeout`
  failed,   ///< anything else: a full disk, a file that is damaged
  closed,   ///< used after `close`; also `millrace::errc::closed`
};

[[nodiscard]] const std::error_category& category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

} // namespace millrace::sqlite

template <> struct std::is_error_code_enum<millrace::sqlite::errc> : std::true_type {};
