// core 2.13: replies.
#include "fixture.hpp"

using namespace memory_test;

namespace {

struct order {
  int id = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id))

struct replies : service_on_memory {
  texts answers;
  replies() { collect(memory::topic("answers"), answers); }
};

struct full_replies : service_on_memory {
  full_replies() : service_on_memory(memory::broker{}.queue_limit(1)) {}
};

} // namespace

// core 3.41
TEST_F(replies, are_published_and_the_request_acknowledged) {
  on.subscribe("orders", [](const order& o) { return order{o.id * 2}; }).reply("answers");
  start();
  publish("orders", R"({"id":4})");
  EXPECT_EQ(answers, texts{R"({"id":8})"});
}
TEST_F(replies, the_error_side_publishes_nothing_and_settles_by_its_outcome) {
  int calls = 0;
  on.subscribe("orders", [&](const order& o) -> std::expected<order, outcome> {
      if (++calls == 1) return std::unexpected(retry());
      return o;
    }).reply("answers");
  start();
  publish("orders", R"({"id":4})");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(answers.size(), 1U);
}
TEST_F(replies, to_a_sender_that_wants_none_are_not_sent) {
  int calls = 0;
  on.subscribe("orders", [&](const order& o) {
      ++calls;
      return o;
    }).reply_to_sender();
  start();
  publish("orders", R"({"id":4})");
  EXPECT_EQ(calls, 1);
}

// core 3.41: the request comes again when the reply did not get out, and a cap holds for it.
TEST_F(full_replies, that_fail_deliver_the_request_again) {
  event open(rt);
  texts answers;
  int calls = 0;
  on.subscribe("answers", [&](bytes_view payload) -> task<> {
    const std::string text(as_text(payload));
    co_await open.wait();
    answers.push_back(text);
  });
  on.subscribe("orders",
               [&](bytes_view payload) {
                 if (++calls == 3) open.set();
                 return payload;
               })
      .reply("answers")
      .on_exception(failure_policy::retry());
  start();
  publish("answers", "old");
  ASSERT_TRUE(enqueue("orders", "new"));
  ASSERT_TRUE(rt.run(10'000) || true);
  EXPECT_GE(calls, 3);
  EXPECT_EQ(answers, (texts{"old", "new"}));
  EXPECT_GE(log.count(log_level::warning, "the reply was not published"), 2U);
}
