#pragma once

#include <millrace/sqlite/errors.hpp>

#include <chrono>
#include <cstdint>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace millrace::sqlite {

/// A statement that is prepared once. Not thread-safe.
class statement {
 public:
  statement() = default;
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement() { finish(); }

  void finish() noexcept {
    sqlite3_finalize(handle_);
    handle_ = nullptr;
  }
  statement& bind(int at, std::string_view text) noexcept;
  statement& bind(int at, std::int64_t number) noexcept;
  /// The first column of the row that `connection::step` found.
  [[nodiscard]] std::int64_t number() const noexcept { return sqlite3_column_int64(handle_, 0); }
  [[nodiscard]] std::string_view text() const noexcept {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, 0));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, 0))};
  }

 private:
  friend class connection;
  sqlite3_stmt* handle_ = nullptr;
};

/// One connection to one file. Not thread-safe. Statements are finished before it closes.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { sqlite3_close(handle_); }

  result<void> open(const std::string& path, std::chrono::milliseconds busy_timeout);
  result<void> close();
  [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr; }

  result<void> run(const char* sql);
  result<void> prepare(statement& s, std::string_view sql);
  /// Steps once. True: there is a row, valid until `reset`.
  result<bool> step(statement& s, const char* what);
  static void reset(statement& s) noexcept;
  /// Steps a statement without rows, and resets it. Answers how many rows it changed.
  result<int> execute(statement& s, const char* what);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] error failure(const char* what) const;
  sqlite3* handle_ = nullptr;
  std::string path_;
};

} // namespace millrace::sqlite
