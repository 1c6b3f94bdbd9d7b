#include "connection.hpp"

#include <utility>

namespace millrace::sqlite {

statement& statement::bind(int at, std::string_view text) noexcept {
  sqlite3_bind_text64(handle_, at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8); // alive until it is reset
  return *this;
}

statement& statement::bind(int at, std::int64_t number) noexcept {
  sqlite3_bind_int64(handle_, at, number);
  return *this;
}

error connection::failure(const char* what) const {
  const int code = sqlite3_extended_errcode(handle_);
  auto kind = errc::failed;
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    kind = errc::busy;
    break;
  case SQLITE_CANTOPEN:
  case SQLITE_NOTADB:
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
    kind = errc::open;
    break;
  default:
    break;
  }
  return error(make_error_code(kind), path_ + ": " + what).from_server(code, sqlite3_errmsg(handle_));
}

result<void> connection::open(const std::string& path, std::chrono::milliseconds busy_timeout) {
  path_ = path;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    error why = failure("open");
    sqlite3_close(std::exchange(handle_, nullptr));
    return fail(std::move(why));
  }
  sqlite3_busy_timeout(handle_, static_cast<int>(busy_timeout.count()));
  return {};
}

result<void> connection::close() {
  if (handle_ == nullptr) return {};
  if (sqlite3_close(handle_) != SQLITE_OK) return fail(failure("close"));
  handle_ = nullptr;
  return {};
}

result<void> connection::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return fail(failure(sql));
  return {};
}

result<void> connection::prepare(statement& s, std::string_view sql) {
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &s.handle_, nullptr);
  if (code != SQLITE_OK) return fail(failure("prepare"));
  return {};
}

result<bool> connection::step(statement& s, const char* what) {
  const int code = sqlite3_step(s.handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  error why = failure(what);
  reset(s);
  return fail(std::move(why));
}

void connection::reset(statement& s) noexcept {
  sqlite3_reset(s.handle_);
  sqlite3_clear_bindings(s.handle_);
}

result<int> connection::execute(statement& s, const char* what) {
  auto stepped = step(s, what);
  if (!stepped) return fail(std::move(stepped).error());
  const int changed = sqlite3_changes(handle_);
  reset(s);
  return changed;
}

} // namespace millrace::sqlite
