#include <millrace/event.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/resilience/deduplicate.hpp>
#include <millrace/sqlite.hpp>
#include <millrace/testing.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;
using millrace::resilience::claim_state;
using millrace::sqlite::idempotency_options;
using millrace::sqlite::idempotency_store;
using millrace::testing::headers;
using millrace::testing::test_service;

namespace {

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

class IdempotencyStore : public testing::Test {
 protected:
  IdempotencyStore() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    // A disk that is busy with something else makes a sync take seconds.
    const std::filesystem::path in_memory = "/dev/shm";
    directory_ = std::filesystem::exists(in_memory) ? in_memory : std::filesystem::temp_directory_path();
    directory_ /= "millrace_" + std::to_string(getpid()) + "_" + test->name();
    std::filesystem::create_directories(directory_);
  }
  ~IdempotencyStore() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string file() const { return (directory_ / "ids.db").string(); }
  [[nodiscard]] std::shared_ptr<idempotency_store> open(idempotency_options options = {}) const {
    options.clock([now = now_] { return now->load(); });
    auto store = idempotency_store::open(file(), std::move(options));
    EXPECT_TRUE(store) << store.error().message();
    return *store;
  }
  void advance(std::chrono::milliseconds d) const { *now_ += d.count(); }

  static auto claim(idempotency_store& s, const std::string& id) { return millrace::sync_wait(s.try_claim(id, {})); }
  static claim_state state(idempotency_store& s, const std::string& id) { return claim(s, id).value().state; }
  static auto complete(idempotency_store& s, const std::string& id) { return millrace::sync_wait(s.complete(id, {})); }
  static auto forget(idempotency_store& s, const std::string& id, std::uint64_t ticket) {
    return millrace::sync_wait(s.forget(id, ticket));
  }

 private:
  std::filesystem::path directory_;
  std::shared_ptr<std::atomic<std::int64_t>> now_ = std::make_shared<std::atomic<std::int64_t>>(1'700'000'000'000);
};

/// A service that counts its orders.
struct counting_service {
  explicit counting_service(const std::shared_ptr<idempotency_store>& store)
      : on(app.with_broker(millrace::memory::broker{})) {
    on.subscribe("orders", [this](const order&) { ++handled; }).use(millrace::resilience::deduplicate(store));
  }
  millrace::service<> app{{.title = "orders"}};
  millrace::scope<millrace::memory::broker> on;
  int handled = 0;
};

} // namespace

TEST_F(IdempotencyStore, claims_completes_and_forgets) {
  auto store = open();
  const auto first = claim(*store, "a");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->state, claim_state::fresh);
  EXPECT_EQ(state(*store, "a"), claim_state::in_progress);
  EXPECT_TRUE(forget(*store, "a", first->ticket));
  EXPECT_EQ(state(*store, "a"), claim_state::fresh);
  EXPECT_TRUE(complete(*store, "a"));
  EXPECT_EQ(state(*store, "a"), claim_state::done);
  EXPECT_TRUE(forget(*store, "a", first->ticket));
  EXPECT_EQ(state(*store, "a"), claim_state::done);
}

TEST_F(IdempotencyStore, ids_are_bytes) {
  auto store = open();
  const std::string with_zero("a\0b", 3);
  EXPECT_TRUE(complete(*store, with_zero));
  EXPECT_TRUE(complete(*store, "it's; DROP TABLE"));
  EXPECT_EQ(state(*store, "a"), claim_state::fresh);
  EXPECT_EQ(state(*store, with_zero), claim_state::done);
}

TEST_F(IdempotencyStore, a_claim_lapses_and_its_old_ticket_forgets_nothing) {
  auto store = open(idempotency_options().lease(1min));
  const auto first = claim(*store, "a");
  advance(59s);
  EXPECT_EQ(state(*store, "a"), claim_state::in_progress);
  advance(1s);
  EXPECT_EQ(state(*store, "a"), claim_state::fresh);
  EXPECT_TRUE(forget(*store, "a", first->ticket));
  EXPECT_EQ(state(*store, "a"), claim_state::in_progress);
}

TEST_F(IdempotencyStore, what_is_done_is_forgotten_after_its_time) {
  auto store = open(idempotency_options().ttl(1min));
  EXPECT_TRUE(complete(*store, "a"));
  advance(59'999ms);
  EXPECT_EQ(state(*store, "a"), claim_state::done);
  advance(1ms);
  EXPECT_EQ(state(*store, "a"), claim_state::fresh);
}

TEST_F(IdempotencyStore, has_a_clock_of_its_own) {
  auto store = idempotency_store::open(file(), idempotency_options().ttl(1h));
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_TRUE(complete(**store, "a"));
  EXPECT_EQ(state(**store, "a"), claim_state::done);
}

TEST_F(IdempotencyStore, a_restart_keeps_what_is_done_and_a_dead_process_its_claim_for_the_lease) {
  {
    auto before = open();
    EXPECT_EQ(state(*before, "dead"), claim_state::fresh); // never ended
    EXPECT_TRUE(complete(*before, "a"));
  }
  auto after = open();
  EXPECT_EQ(state(*after, "a"), claim_state::done);
  EXPECT_EQ(state(*after, "dead"), claim_state::in_progress);
  advance(5min);
  EXPECT_EQ(state(*after, "dead"), claim_state::fresh);
}

TEST_F(IdempotencyStore, of_many_that_claim_at_once_one_has_it) {
  const auto patient = idempotency_options().survive_power_loss(false).busy_timeout(30s);
  const std::vector<std::shared_ptr<idempotency_store>> stores{open(patient), open(patient)};
  std::atomic<int> fresh = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      for (int i = 0; i < 50; ++i) {
        const auto c = claim(*stores[n % 2], std::to_string(i));
        if (!c)
          ++failed;
        else if (c->state == claim_state::fresh)
          ++fresh;
      }
    });
  }
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(fresh, 50);
}

TEST_F(IdempotencyStore, two_services_share_a_file) {
  counting_service one(open());
  counting_service two(open());
  test_service first(one.app);
  test_service second(two.app);
  first.publish("orders", order{1}, headers({{"message-id", "a"}}));
  second.publish("orders", order{1}, headers({{"message-id", "a"}}));
  second.subscription("orders").settled(millrace::ack());
  second.publish("orders", order{2}, headers({{"message-id", "b"}}));
  first.publish("orders", order{2}, headers({{"message-id", "b"}}));
  EXPECT_EQ(one.handled, 1);
  EXPECT_EQ(two.handled, 1);
}

TEST_F(IdempotencyStore, a_restarted_service_does_not_repeat_an_effect) {
  for (int run = 0; run < 2; ++run) {
    counting_service s(open());
    test_service t(s.app);
    t.publish("orders", order{1}, headers({{"message-id", "a"}}));
    t.subscription("orders").settled(millrace::ack());
    EXPECT_EQ(s.handled, run == 0 ? 1 : 0);
  }
}

TEST_F(IdempotencyStore, a_file_that_cannot_be_opened_is_an_error_with_sqlites_text) {
  auto store = idempotency_store::open("/nowhere/at/all/ids.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error(), millrace::errc::connect);
  EXPECT_EQ(store.error(), make_error_code(millrace::sqlite::errc::open));
  EXPECT_EQ(store.error().server_text(), "unable to open database file");
  EXPECT_NE(store.error().message().find("/nowhere/at/all/ids.db"), std::string::npos);
}

TEST_F(IdempotencyStore, a_file_that_is_no_database_is_an_error) {
  std::ofstream(file()) << "this is a text of some length, and it is no database at all, not even a damaged one";
  auto store = idempotency_store::open(file());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error(), make_error_code(millrace::sqlite::errc::open));
  EXPECT_EQ(store.error().server_text(), "file is not a database");
}

TEST_F(IdempotencyStore, is_closed_after_close) {
  auto store = open();
  EXPECT_TRUE(store->close());
  EXPECT_TRUE(store->close());
  const auto c = claim(*store, "a");
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error(), millrace::errc::closed);
  EXPECT_FALSE(complete(*store, "a"));
  EXPECT_FALSE(forget(*store, "a", 1));
}
