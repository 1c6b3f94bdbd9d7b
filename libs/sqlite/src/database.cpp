#include "database.hpp"

namespace millrace::sqlite {
namespace {

using resilience::claim;
using resilience::claim_state;

constexpr const char* table = "CREATE TABLE IF NOT EXISTS millrace_idempotency ("
                              "id TEXT PRIMARY KEY, ticket INTEGER NOT NULL, done INTEGER NOT NULL,"
                              " until INTEGER NOT NULL) WITHOUT ROWID";
constexpr const char* index = "CREATE INDEX IF NOT EXISTS millrace_idempotency_until ON millrace_idempotency (until)";

/// Tickets must differ between processes that share the file.
std::uint64_t random_ticket() noexcept {
  std::uint64_t ticket = 0;
  sqlite3_randomness(sizeof ticket, &ticket);
  return ticket >> 1U; // SQLite's integers are signed
}

} // namespace

result<void> idempotency_store::database::open(const std::string& path) {
  if (auto opened = connection_.open(path, options_.busy_timeout()); !opened) return opened;
  if (auto set = use_wal(); !set) return set;
  const char* durability = options_.survives_power_loss() ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL";
  if (auto set = connection_.run(durability); !set) return set;
  if (auto made = connection_.run(table); !made) return made;
  if (auto made = connection_.run(index); !made) return made;
  return prepare();
}

/// A file system without shared memory leaves the mode as it was; a database in memory has no log.
result<void> idempotency_store::database::use_wal() {
  statement mode;
  if (auto ready = connection_.prepare(mode, "PRAGMA journal_mode=WAL"); !ready) return ready;
  auto row = connection_.step(mode, "PRAGMA journal_mode=WAL");
  if (!row) return fail(std::move(row).error());
  const std::string_view got = mode.text();
  if (got == "wal" || got == "memory") return {};
  return fail(make_error_code(errc::open),
              connection_.path() + ": WAL is not possible here, the mode stays " + std::string(got));
}

result<void> idempotency_store::database::prepare() {
  const struct {
    statement* s;
    const char* sql;
  } all[] = {
      {&now_, "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"},
      {&claim_, "INSERT INTO millrace_idempotency (id, ticket, done, until) VALUES (?1, ?2, 0, ?3)"
                " ON CONFLICT (id) DO UPDATE SET ticket = ?2, done = 0, until = ?3 WHERE until <= ?4"},
      {&look_, "SELECT done FROM millrace_idempotency WHERE id = ?1"},
      {&complete_, "INSERT INTO millrace_idempotency (id, ticket, done, until) VALUES (?1, 0, 1, ?2)"
                   " ON CONFLICT (id) DO UPDATE SET done = 1, until = ?2"},
      {&forget_, "DELETE FROM millrace_idempotency WHERE id = ?1 AND ticket = ?2 AND done = 0"},
      {&expire_, "DELETE FROM millrace_idempotency WHERE id IN"
                 " (SELECT id FROM millrace_idempotency WHERE until <= ?1 ORDER BY until LIMIT 8)"},
  };
  for (const auto& [s, sql] : all)
    if (auto ready = connection_.prepare(*s, sql); !ready) return ready;
  return {};
}

result<void> idempotency_store::database::check_open() const {
  if (connection_.is_open()) return {};
  return fail(make_error_code(errc::closed), connection_.path());
}

result<std::int64_t> idempotency_store::database::now() {
  if (options_.clock()) return options_.clock()();
  auto row = connection_.step(now_, "the time");
  if (!row) return fail(std::move(row).error());
  const std::int64_t at = now_.number();
  connection::reset(now_);
  return at;
}

result<void> idempotency_store::database::remove_expired(std::int64_t at) {
  auto removed = connection_.execute(expire_.bind(1, at), "remove what is past its time");
  if (!removed) return fail(std::move(removed).error());
  return {};
}

/// One statement, so that of two that claim at once one has it.
result<claim> idempotency_store::database::try_claim(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  if (auto usable = check_open(); !usable) return fail(std::move(usable).error());
  const auto at = now();
  if (!at) return fail(at.error());
  if (auto removed = remove_expired(*at); !removed) return fail(std::move(removed).error());
  const std::uint64_t ticket = random_ticket();
  claim_.bind(1, id).bind(2, static_cast<std::int64_t>(ticket)).bind(3, *at + options_.lease().count()).bind(4, *at);
  auto changed = connection_.execute(claim_, "claim");
  if (!changed) return fail(std::move(changed).error());
  if (*changed > 0) return claim{claim_state::fresh, ticket};
  return look_at(id);
}

/// Gone by now: another one had it a moment ago.
result<claim> idempotency_store::database::look_at(std::string_view id) {
  auto row = connection_.step(look_.bind(1, id), "look");
  if (!row) return fail(std::move(row).error());
  const bool done = *row && look_.number() != 0;
  connection::reset(look_);
  return claim{done ? claim_state::done : claim_state::in_progress, 0};
}

result<void> idempotency_store::database::complete(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  if (auto usable = check_open(); !usable) return usable;
  const auto at = now();
  if (!at) return fail(at.error());
  auto changed = connection_.execute(complete_.bind(1, id).bind(2, *at + options_.ttl().count()), "complete");
  if (!changed) return fail(std::move(changed).error());
  return {};
}

result<void> idempotency_store::database::forget(std::string_view id, std::uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  if (auto usable = check_open(); !usable) return usable;
  auto changed = connection_.execute(forget_.bind(1, id).bind(2, static_cast<std::int64_t>(ticket)), "forget");
  if (!changed) return fail(std::move(changed).error());
  return {};
}

result<void> idempotency_store::database::close() {
  const std::scoped_lock lock(mutex_);
  for (statement* s : {&now_, &claim_, &look_, &complete_, &forget_, &expire_})
    s->finish();
  return connection_.close();
}

} // namespace millrace::sqlite
