#include <millrace/sqlite/idempotency_store.hpp>

#include "database.hpp"

#include <utility>

namespace millrace::sqlite {

idempotency_store::idempotency_store(std::unique_ptr<database> db) noexcept : db_(std::move(db)) {}

idempotency_store::~idempotency_store() = default;

result<std::shared_ptr<idempotency_store>> idempotency_store::open(const std::string& path,
                                                                   idempotency_options options) {
  auto db = std::make_unique<database>(std::move(options));
  if (auto opened = db->open(path); !opened) return fail(std::move(opened).error());
  return std::shared_ptr<idempotency_store>(new idempotency_store(std::move(db)));
}

task<result<resilience::claim>> idempotency_store::try_claim(std::string_view id, time_point /*now*/) {
  co_return db_->try_claim(id);
}

task<result<void>> idempotency_store::complete(std::string_view id, time_point /*now*/) { co_return db_->complete(id); }

task<result<void>> idempotency_store::forget(std::string_view id, std::uint64_t ticket) {
  co_return db_->forget(id, ticket);
}

result<void> idempotency_store::close() { return db_->close(); }

} // namespace millrace::sqlite
