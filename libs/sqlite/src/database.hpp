#pragma once

#include "connection.hpp"

#include <millrace/sqlite/idempotency_store.hpp>

#include <mutex>

namespace millrace::sqlite {

/// The table and its statements behind a lock.
class idempotency_store::database {
 public:
  explicit database(idempotency_options options) : options_(std::move(options)) {}
  ~database() = default; // the statements go before their connection
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  result<void> open(const std::string& path);
  result<resilience::claim> try_claim(std::string_view id);
  result<void> complete(std::string_view id);
  result<void> forget(std::string_view id, std::uint64_t ticket);
  result<void> close();

 private:
  result<void> use_wal();
  result<void> prepare();
  result<std::int64_t> now();
  result<void> remove_expired(std::int64_t at);
  result<resilience::claim> look_at(std::string_view id);
  [[nodiscard]] result<void> check_open() const;

  const idempotency_options options_;
  std::mutex mutex_;
  connection connection_;
  statement now_, claim_, look_, complete_, forget_, expire_;
};

} // namespace millrace::sqlite
