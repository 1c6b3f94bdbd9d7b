#include "suites.hpp"
#include "working.hpp"

#include <atomic>
#include <mutex>

namespace millrace::testing::conformance {
namespace {

bool seeks(const broker_kit& kit) { return kit.has_seek(); }
bool starts(const broker_kit& kit) { return kit.has_start_positions(); }

/// What a handler that seeks keeps. Handlers share it.
struct seeking {
  std::mutex mutex;
  std::optional<std::uint64_t> captured;
  bool sought = false;
  result<void> said;
  std::atomic<bool> published = false;
};

task<void> publish_numbers(working& w, int from, int to) {
  for (int i = from; i <= to; ++i)
    co_await w.publish(std::to_string(i));
}

task<void> expect_calls(working& w, std::vector<std::string> wanted) {
  for (const std::string& payload : wanted) {
    const handled call = co_await w.next();
    expect(call.payload == payload, "'" + call.payload + "' was handled where '" + payload + "' was due");
  }
}

/// Captures the position of "2" and goes back there from "4", once.
void go_back(const broker_kit& kit, seeking& kept, std::string_view payload, context& ctx) {
  const std::scoped_lock lock(kept.mutex);
  if (payload == "2") kept.captured = kit.position_of(ctx);
  if (payload != "4" || kept.sought) return;
  kept.sought = true;
  kept.said = kit.seek(ctx, kept.captured);
}

task<void> back_redelivers_that_message_and_what_follows(stage& on) {
  working w(on);
  const auto kept = std::make_shared<seeking>();
  w.broker().subscribe(w.name, [kept, seen = w.seen, kit = &on.kit()](bytes_view payload, context& ctx) {
    seen->record(payload, ctx);
    go_back(*kit, *kept, as_text(payload), ctx);
    return ack();
  });
  co_await w.start();
  co_await publish_numbers(w, 1, 5);
  const std::vector<std::string> calls{"1", "2", "3", "4", "2", "3", "4", "5"};
  co_await expect_calls(w, calls);
  value_of(std::move(kept->said), "seek");
  co_await w.publish("6");
  const std::vector<std::string> last{"6"};
  co_await expect_calls(w, last);
  co_await w.nothing("after what was published after the seek");
}

/// From "1", when the others are published.
task<outcome> skip_what_waits(const broker_kit& kit, std::shared_ptr<seeking> kept, std::shared_ptr<recorder> seen,
                              bytes_view payload, context& ctx) {
  seen->record(payload, ctx);
  if (as_text(payload) != "1") co_return ack();
  while (!kept->published)
    co_await ctx.sleep_for(std::chrono::milliseconds(5));
  kept->said = kit.seek(ctx, std::nullopt);
  co_return ack();
}

/// The message that is being handled settles all the same: nothing of before comes back.
task<void> forward_skips_what_waits(stage& on) {
  working w(on);
  const auto kept = std::make_shared<seeking>();
  auto handler = [kept, seen = w.seen, kit = &on.kit()](bytes_view payload, context& ctx) {
    return skip_what_waits(*kit, kept, seen, payload, ctx);
  };
  w.broker().subscribe_waiting(w.name, std::move(handler));
  co_await w.start();
  co_await publish_numbers(w, 1, 5);
  const std::vector<std::string> first{"1"};
  co_await expect_calls(w, first);
  kept->published = true;
  co_await w.nothing("after a seek to the end");
  value_of(std::move(kept->said), "seek");
  co_await w.publish("6");
  const std::vector<std::string> last{"6"};
  co_await expect_calls(w, last);
}

task<std::uint64_t> read_positions(stage& on, connection& c, publish_port& out, const std::string& name) {
  receiver* in = co_await on.open(c, name);
  for (const char* payload : {"1", "2", "3"})
    co_await on.publish(out, name, payload);
  std::vector<std::uint64_t> positions;
  for (int i = 0; i < 3; ++i) {
    delivery d = co_await on.next(*in);
    positions.push_back(on.kit().position_of(d));
    [[maybe_unused]] const auto settled = std::move(d).ack();
  }
  expect(positions[0] < positions[1] && positions[1] < positions[2], "positions do not grow in order of publish");
  co_await on.close(*in);
  co_return positions[1];
}

/// Each time it opens: a start position is no stored one.
task<void> a_subscription_begins_where_it_says(stage& on) {
  const std::string name = on.fresh();
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  const std::uint64_t second = co_await read_positions(on, *c, *out, name);
  for (int time = 1; time <= 2; ++time) {
    receiver* in = co_await on.open_at(*c, name, second);
    for (const char* payload : {"2", "3"}) {
      delivery d = co_await on.next(*in);
      expect(d.text() == payload, "'" + std::string(d.text()) + "' arrived where '" + payload + "' was due");
      [[maybe_unused]] const auto settled = std::move(d).ack();
    }
    co_await on.nothing(*in, "after the newest message");
    co_await on.close(*in);
  }
}

} // namespace

void add_seek(std::vector<check>& to) {
  to.push_back({"seek", "back_redelivers_that_message_and_what_follows", "", "`position` and `seek`", seeks,
                back_redelivers_that_message_and_what_follows});
  to.push_back({"seek", "forward_skips_what_waits", "", "`position` and `seek`", seeks, forward_skips_what_waits});
  to.push_back({"seek", "a_subscription_begins_where_it_says", "", "`position` and `start_at`", starts,
                a_subscription_begins_where_it_says});
}

} // namespace millrace::testing::conformance
