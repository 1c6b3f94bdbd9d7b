// The small values of core: headers, errors, outcomes, policies, batches.
#include "support.hpp"

#include <gtest/gtest.h>

using namespace core_test;

namespace {

std::string all(const header_map& h) {
  std::string text;
  for (const auto& [name, value] : h)
    text += std::string(name) + "=" + std::string(value) + ";";
  return text;
}

class other_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "other"; }
  std::string message(int) const override { return "stream not found"; }
  std::error_condition default_error_condition(int value) const noexcept override {
    return value == 1 ? make_error_condition(errc::subscribe) : std::error_condition(value, *this);
  }
};
const other_category other;

struct message final : incoming {
  const header_map& headers() override { return map; }
  result<void> settle(settlement) noexcept override { return {}; }
  void release() noexcept override { ++released; }
  header_map map;
  int released = 0;
};

task<> run(detail::settled_hook& hook) { co_await hook.run(); }

} // namespace

TEST(header_map, names_compare_without_case_and_keep_their_order) {
  header_map h;
  h.set("Content-Type", "json");
  h.set("X-Tries", "1");
  h.set("content-TYPE", "text");
  EXPECT_EQ(h.size(), 2U);
  EXPECT_EQ(h.get("CONTENT-type"), "text");
  EXPECT_EQ(all(h), "Content-Type=text;X-Tries=1;");
  EXPECT_EQ(h.get("missing"), std::nullopt);
}

TEST(header_map, the_first_of_a_repeated_inbound_header_wins) {
  header_map h;
  h.add("k", "first");
  h.add("K", "second");
  EXPECT_EQ(all(h), "k=first;");
}

TEST(header_map, replacing_a_value_leaves_nothing_behind) {
  header_map h;
  h.set("a", "");
  h.set("b", "22");
  h.set("c", "3");
  for (int i = 0; i < 1000; ++i) {
    h.set("a", "long enough to move the others");
    h.set("a", "");
    h.set("b", i % 2 == 0 ? "x" : "yyyy");
  }
  EXPECT_EQ(all(h), "a=;b=yyyy;c=3;");
  // Where the last value stands tells how much is stored in front of it.
  EXPECT_EQ(h.get("c")->data() - h[0].name.data(), std::ptrdiff_t{sizeof "abyyyyc" - 1});
}

TEST(header_map, erasing_keeps_the_others) {
  header_map h;
  h.set("a", "1");
  h.set("b", "");
  h.set("c", "333");
  EXPECT_TRUE(h.erase("b"));
  EXPECT_TRUE(h.erase("A"));
  h.set("d", *h.get("c"));
  EXPECT_EQ(all(h), "c=333;d=333;");
}

TEST(header_map, erases_clears_and_merges) {
  header_map h;
  h.set("a", "1");
  h.set("b", "2");
  EXPECT_TRUE(h.erase("A"));
  EXPECT_FALSE(h.erase("a"));
  header_map more;
  more.set("B", "20");
  more.set("c", "");
  h.merge(more);
  EXPECT_EQ(all(h), "b=20;c=;");
  EXPECT_TRUE(h.contains("C"));
  h.clear();
  EXPECT_TRUE(h.empty());
}

TEST(header_map, copies_are_independent) {
  header_map h;
  h.set("a", "1");
  header_map copy = h;
  copy.set("a", "2");
  EXPECT_EQ(h.get("a"), "1");
}

TEST(header_map, only_ascii_letters_fold) {
  EXPECT_TRUE(equal_ignoring_case("AZ-09", "az-09"));
  EXPECT_FALSE(equal_ignoring_case("[", "{")); // they differ by the bit that letters differ by
  EXPECT_FALSE(equal_ignoring_case("\xC4", "\xE4"));
  EXPECT_FALSE(equal_ignoring_case("a", "ab"));
}

TEST(error, says_what_where_and_what_the_server_said) {
  const error plain(errc::timeout, "request to 'prices'");
  EXPECT_EQ(plain.message(), "timed out: request to 'prices'");
  EXPECT_EQ(plain, errc::timeout);
  EXPECT_FALSE(plain == errc::closed);
  const error full = error(errc::subscribe, "'orders'").from_server(404, "no queue").at("subscription 'bill'");
  EXPECT_EQ(full.message(), "cannot subscribe: subscription 'bill': 'orders' (server: 404 no queue)");
  EXPECT_EQ(full.server_code(), 404);
  EXPECT_EQ(full.server_text(), "no queue");
  EXPECT_EQ(error(errc::closed, "").at("publish").message(), "closed: publish");
  EXPECT_EQ(error(errc::closed, "").from_server(0, "bye").message(), "closed (server: bye)");
}

TEST(error, codes_of_other_libraries_map_to_conditions) {
  const error e(std::error_code(1, other), "'ORDERS'");
  EXPECT_EQ(e, errc::subscribe);
  EXPECT_EQ(e, std::error_code(1, other));
  EXPECT_FALSE(error(std::error_code(2, other), "") == errc::subscribe);
  EXPECT_EQ(e.message(), "stream not found: 'ORDERS'");
}

TEST(error, every_condition_has_a_text) {
  for (int i = 1; i <= static_cast<int>(errc::handler); ++i)
    EXPECT_NE(core_category().message(i), "unknown error") << i;
  EXPECT_EQ(core_category().message(999), "unknown error");
}

TEST(outcome, says_what_becomes_of_the_message) {
  EXPECT_EQ(ack().kind(), settlement_kind::ack);
  EXPECT_EQ(retry().kind(), settlement_kind::retry);
  EXPECT_EQ(drop().kind(), settlement_kind::drop);
  EXPECT_EQ(retry_after(5s).kind(), settlement_kind::retry_after);
  EXPECT_EQ(retry_after(5s).delay(), 5s);
  EXPECT_FALSE(ack().has_continuation());
}

TEST(outcome, carries_every_continuation_that_was_attached) {
  virtual_runtime rt;
  std::vector<int> ran;
  auto o = ack().then([&] { ran.push_back(1); }).then([&]() -> task<> {
    ran.push_back(2);
    co_return;
  });
  ASSERT_TRUE(o.has_continuation());
  auto hook = o.take_continuations();
  EXPECT_FALSE(o.has_continuation());
  for (; hook; hook = std::move(hook->next))
    rt.drive(run(*hook));
  std::ranges::sort(ran);
  EXPECT_EQ(ran, (std::vector{1, 2}));
}

TEST(failure_policy, says_what_to_do) {
  EXPECT_EQ(failure_policy::fail_fast().what(), failure_policy::kind::fail_fast);
  EXPECT_EQ(failure_policy::skip().what(), failure_policy::kind::skip);
  EXPECT_EQ(failure_policy::retry_after(3s).delay(), 3s);
}

TEST(incoming_batch, moves_whole_and_keeps_its_order) {
  message a, b, c;
  incoming_batch first, second;
  first.push(a);
  second.push(b);
  second.push(c);
  first.append(std::move(second));
  EXPECT_TRUE(second.empty()); // NOLINT: a moved-from batch is empty
  second.append(incoming_batch{});
  EXPECT_EQ(first.size(), 3U);
  incoming_batch moved = std::move(first);
  EXPECT_EQ(moved.pop(), &a);
  EXPECT_EQ(moved.size(), 2U);
  moved.release_all();
  EXPECT_EQ(a.released, 0);
  EXPECT_EQ(b.released + c.released, 2);
  EXPECT_EQ(moved.pop(), nullptr);
  moved.push(a);
  EXPECT_EQ(moved.pop(), &a);
}
