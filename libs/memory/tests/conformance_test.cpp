// The conformance suites on the embedded broker: in process on the virtual clock, and "live" on real threads. Then on
// the embedded broker with one fault at a time: the suites find each.
#include <millrace/memory.hpp>
#include <millrace/testing/conformance_gtest.hpp>

#include <algorithm>
#include <optional>

namespace millrace::memory {
namespace flaws { // a name, because templates of the headers are made over these types

namespace conformance = testing::conformance;

constexpr conformance::capabilities everything = {.settles = true,
                                                  .requeues = true,
                                                  .delays = true,
                                                  .counts_deliveries = true,
                                                  .redelivers_unsettled = true,
                                                  .groups = true,
                                                  .requests = true,
                                                  .refuses_unheard = true,
                                                  .transactions = true,
                                                  .owned_transactions = true};

void set_key(std::string_view key, header_map& headers, publish::options& /*options*/) {
  headers.set("partition-key", key);
}

topic grouped(const std::string& name) { return topic(name).group("conformance"); }

conformance::kit_ptr kit(conformance::run_mode mode) {
  return conformance::kit_of<broker>({
      .name = "memory",
      .mode = mode,
      .can = everything,
      .make = [] { return broker{}; },
      .source = grouped,
      .refused = [](const std::string& name) { return topic(name).from_start(); }, // the broker retains nothing
      .quiet = std::chrono::milliseconds(300),
      .key = set_key,
  });
}

result<void> seek(context& ctx, std::optional<std::uint64_t> to) {
  return ctx.field(seeker)->seek(to ? position::at(*to) : position::end());
}

/// A broker that retains: subscriptions have positions of their own, which end with them.
conformance::kit_ptr log_kit(conformance::run_mode mode) {
  auto can = everything;
  can.groups = can.redelivers_unsettled = false;
  return conformance::kit_of<broker>({
      .name = "memory_log",
      .mode = mode,
      .can = can,
      .make = [] { return broker{}.retain(retention(1000, 0)); },
      .source = [](const std::string& name) { return topic(name); },
      .quiet = std::chrono::milliseconds(300),
      .key = set_key,
      .position = [](const auto& m) { return *m.field(sequence); },
      .start_at = [](const std::string& name, std::uint64_t at) { return topic(name).start_at(position::at(at)); },
      .seek = seek,
  });
}

[[maybe_unused]] const bool registered = conformance::register_checks({
    kit(conformance::run_mode::in_process),
    kit(conformance::run_mode::live),
    log_kit(conformance::run_mode::in_process),
    log_kit(conformance::run_mode::live),
});

// Which checks prove them is in the rule that each registered test records.
TEST(memory_conformance, L1_L2_L3_L4_are_checked) {
  for (const auto mode : {conformance::run_mode::in_process, conformance::run_mode::live}) {
    for (const char* rule : {"L1", "L2", "L3", "L4"})
      EXPECT_TRUE(conformance::proves(*kit(mode), rule)) << rule;
  }
}

enum class fault {
  publishes_after_shutdown,
  settles_after_shutdown,
  shutdown_hangs,
  loses_headers,
  cuts_at_nul,
  forgets_acks,
  redelivers_drops,
  loses_retries,
  loses_the_unsettled,
  ignores_delays,
  counts_from_zero,
  loses_the_inbox,
  loses_keys,
  publishes_before_the_commit,
  commits_aborts,
  commits_after_shutdown,
};

struct flaw {
  fault what;
  std::shared_ptr<bool> closed = std::make_shared<bool>(false);
  [[nodiscard]] bool is(fault f) const noexcept { return what == f; }
};

/// A delivery of the embedded broker, with the fault.
class flawed_message final : public incoming {
 public:
  flawed_message(incoming& inner, flaw how) : inner_(&inner), how_(std::move(how)) {
    payload_ = inner.payload();
    subject_ = inner.subject();
    if (how_.is(fault::cuts_at_nul)) payload_ = payload_.first(std::min(as_text(payload_).find('\0'), payload_.size()));
  }
  const header_map& headers() override {
    static const header_map none;
    return how_.is(fault::loses_headers) ? none : inner_->headers();
  }
  std::string_view reply_to() override {
    return how_.is(fault::loses_the_inbox) ? std::string_view() : inner_->reply_to();
  }
  std::uint32_t delivery_count() const noexcept override {
    return inner_->delivery_count() - (how_.is(fault::counts_from_zero) ? 1 : 0);
  }
  bool delays() const noexcept override { return inner_->delays(); }
  std::string_view partition_key() override {
    return how_.is(fault::loses_keys) ? std::string_view() : inner_->partition_key();
  }
  result<void> settle(settlement wanted) noexcept override {
    settled_ = true;
    if (*how_.closed && how_.is(fault::settles_after_shutdown)) return {};
    const auto when = [&](fault f, settlement_kind from, settlement_kind to) {
      if (how_.is(f) && wanted.kind == from) wanted.kind = to;
    };
    when(fault::forgets_acks, settlement_kind::ack, settlement_kind::retry);
    when(fault::redelivers_drops, settlement_kind::drop, settlement_kind::retry);
    when(fault::loses_retries, settlement_kind::retry, settlement_kind::ack);
    when(fault::ignores_delays, settlement_kind::retry_after, settlement_kind::retry);
    return inner_->settle(wanted);
  }
  void release() noexcept override {
    if (!settled_ && how_.is(fault::loses_the_unsettled)) [[maybe_unused]]
      const auto lost = inner_->settle({settlement_kind::ack, {}});
    inner_->release();
    delete this;
  }

 private:
  ~flawed_message() = default;
  incoming* inner_;
  flaw how_;
  bool settled_ = false;
};

class flawed_sink final : public sink {
 public:
  flawed_sink(sink& to, flaw how) : to_(&to), how_(std::move(how)) {}
  void deliver(incoming_batch batch, deliver_from where) noexcept override {
    incoming_batch flawed;
    while (incoming* m = batch.pop())
      flawed.push(*new flawed_message(*m, how_));
    to_->deliver(std::move(flawed), where);
  }
  void interrupted(error why) noexcept override { to_->interrupted(std::move(why)); }
  void resumed() noexcept override { to_->resumed(); }
  void ended(error why) noexcept override { to_->ended(std::move(why)); }
  void dropped(std::uint64_t count) noexcept override { to_->dropped(count); }

 private:
  sink* to_;
  flaw how_;
};

class flawed_subscription final : public subscription_port {
 public:
  flawed_subscription(sink& to, flaw how) : through(to, std::move(how)) {}
  task<void> stop() override { return inner->stop(); }

  flawed_sink through;
  std::unique_ptr<subscription_port> inner;
};

class flawed_transaction final : public transaction_port {
 public:
  flawed_transaction(std::unique_ptr<transaction_port> inner, std::shared_ptr<publish_port> direct, flaw how)
      : inner_(std::move(inner)), direct_(std::move(direct)), how_(std::move(how)) {}
  void publish(const outgoing& message, publish_operation& op) noexcept override {
    if (how_.is(fault::publishes_before_the_commit)) return direct_->publish(message, op);
    inner_->publish(message, op);
  }
  task<result<void>> commit() override {
    if (*how_.closed && how_.is(fault::commits_after_shutdown)) co_return result<void>{};
    co_return co_await inner_->commit();
  }
  task<result<void>> abort() override { return how_.is(fault::commits_aborts) ? inner_->commit() : inner_->abort(); }
  void abandon() noexcept override { inner_->abandon(); }

 private:
  std::unique_ptr<transaction_port> inner_;
  std::shared_ptr<publish_port> direct_;
  flaw how_;
};

class flawed_port final : public publish_port {
 public:
  flawed_port(std::shared_ptr<publish_port> inner, flaw how) : inner_(std::move(inner)), how_(std::move(how)) {}
  void publish(const outgoing& message, publish_operation& op) noexcept override {
    if (*how_.closed && how_.is(fault::publishes_after_shutdown)) return op.complete_now(receipt{});
    inner_->publish(message, op);
  }
  task<result<reply_message>> request(outgoing message, duration timeout) override {
    return inner_->request(message, timeout);
  }
  task<result<std::unique_ptr<transaction_port>>> begin(transaction_kind kind) override {
    auto begun = co_await inner_->begin(kind);
    if (!begun) co_return fail(std::move(begun).error());
    co_return std::make_unique<flawed_transaction>(std::move(*begun), inner_, how_);
  }

 private:
  std::shared_ptr<publish_port> inner_;
  flaw how_;
};

struct flawed_closed {};

class flawed_connected {
 public:
  using closed_type = flawed_closed;
  using default_source = topic;
  using default_policy = publish;
  flawed_connected(connected_broker inner, runtime& rt, flaw how)
      : inner_(std::move(inner)), runtime_(&rt), how_(std::move(how)) {}

  result<std::shared_ptr<publish_port>> pair(const publish& policy) {
    return std::make_shared<flawed_port>(*inner_.pair(policy), how_);
  }
  task<open_result> open(const topic& source, sink& to, const open_options& options) {
    auto made = std::make_unique<flawed_subscription>(to, how_);
    auto opened = co_await inner_.open(source, made->through, options);
    if (!opened) co_return fail(std::move(opened).error());
    made->inner = std::move(*opened);
    co_return made;
  }
  task<result<flawed_closed>> shutdown() && {
    *how_.closed = true;
    event never(*runtime_);
    if (how_.is(fault::shutdown_hangs)) co_await never.wait();
    [[maybe_unused]] const auto closed = co_await std::move(inner_).shutdown();
    co_return flawed_closed{};
  }

 private:
  connected_broker inner_;
  runtime* runtime_;
  flaw how_;
};

class flawed_broker {
 public:
  using connected_type = flawed_connected;
  explicit flawed_broker(fault what) : how_{what} {}
  [[nodiscard]] std::string describe() const { return "flawed"; }
  task<result<flawed_connected>> connect(runtime& rt) && {
    const flaw how = how_;
    auto inner = co_await broker{}.connect(rt);
    if (!inner) co_return fail(std::move(inner).error());
    co_return flawed_connected(std::move(*inner), rt, how);
  }
  task<result<flawed_connected>> connect_in_process(runtime& rt) && { return std::move(*this).connect(rt); }

 private:
  flaw how_;
};

struct finding {
  fault what;
  std::string_view check;
};

class memory_flaws : public ::testing::TestWithParam<finding> {};

TEST_P(memory_flaws, is_found) {
  const fault what = GetParam().what;
  const auto flawed = conformance::kit_of<flawed_broker>({.name = "flawed",
                                                          .can = everything,
                                                          .make = [what] { return flawed_broker(what); },
                                                          .source = grouped,
                                                          .key = set_key});
  const auto found = std::ranges::find(conformance::checks(), GetParam().check, &conformance::check::name);
  ASSERT_NE(found, conformance::checks().end());
  const auto said = found->run(flawed);
  EXPECT_EQ(said.what, conformance::verdict::kind::failed);
  EXPECT_NE(said.text, "");
}

INSTANTIATE_TEST_SUITE_P(
    all, memory_flaws,
    ::testing::Values(
        finding{fault::publishes_after_shutdown, "publishers_answer_closed_afterwards"},
        finding{fault::publishes_after_shutdown, "a_service_publisher_answers_closed_afterwards"},
        finding{fault::settles_after_shutdown, "settling_afterwards_is_refused"},
        finding{fault::shutdown_hangs, "shutdown_is_bounded"}, finding{fault::loses_headers, "headers_arrive_intact"},
        finding{fault::cuts_at_nul, "payloads_arrive_byte_for_byte"}, finding{fault::forgets_acks, "ack_consumes"},
        finding{fault::redelivers_drops, "drop_does_not_come_back"}, finding{fault::loses_retries, "retry_redelivers"},
        finding{fault::loses_retries, "three_attempts_then_one_dead_letter"},
        finding{fault::loses_the_unsettled, "an_unsettled_delivery_returns"},
        finding{fault::loses_the_unsettled, "acking_the_third_leaves_the_first_two"},
        finding{fault::ignores_delays, "retry_after_is_neither_early_nor_late"},
        finding{fault::counts_from_zero, "deliveries_are_counted"},
        finding{fault::loses_the_inbox, "a_request_is_answered"}, finding{fault::loses_keys, "a_key_keeps_its_order"},
        finding{fault::loses_retries, "elements_settle_on_their_own"},
        finding{fault::forgets_acks, "never_larger_than_the_size"},
        finding{fault::publishes_before_the_commit, "nothing_is_visible_before_the_commit"},
        finding{fault::publishes_before_the_commit, "owned_ones_are_independent"},
        finding{fault::commits_aborts, "an_abort_discards"},
        finding{fault::commits_after_shutdown, "a_commit_after_the_shutdown_is_refused"}),
    [](const auto& info) {
      return std::string(info.param.check) + "_" + std::to_string(static_cast<int>(info.param.what));
    });

// A source whose subscriptions each get everything is no group.
TEST(memory_conformance, a_group_that_shares_nothing_is_found) {
  const auto lying = conformance::kit_of<broker>({.name = "lying",
                                                  .can = everything,
                                                  .make = [] { return broker{}; },
                                                  .source = [](const std::string& name) { return topic(name); }});
  const auto found =
      std::ranges::find(conformance::checks(), "a_retry_reaches_one_member_of_a_group", &conformance::check::name);
  EXPECT_EQ(found->run(lying).what, conformance::verdict::kind::failed);
}

// A seek that does nothing is a success that lies, as is a start position that nobody looks at.
TEST(memory_conformance, a_seek_that_stays_where_it_is_is_found) {
  const auto lying = conformance::kit_of<broker>({
      .name = "lying",
      .can = everything,
      .make = [] { return broker{}.retain(retention(1000, 0)); },
      .source = [](const std::string& name) { return topic(name); },
      .position = [](const auto& m) { return *m.field(sequence); },
      .start_at = [](const std::string& name, std::uint64_t /*at*/) { return topic(name); },
      .seek = [](context& /*ctx*/, std::optional<std::uint64_t> /*to*/) { return result<void>{}; },
  });
  for (const char* name : {"back_redelivers_that_message_and_what_follows", "forward_skips_what_waits",
                           "a_subscription_begins_where_it_says"}) {
    const auto found = std::ranges::find(conformance::checks(), name, &conformance::check::name);
    EXPECT_EQ(found->run(lying).what, conformance::verdict::kind::failed) << name;
  }
}

// A kit that declares less than its broker does is found out as well.
TEST(memory_conformance, a_capability_that_is_not_declared_is_found) {
  auto less = everything;
  less.requeues = false;
  const auto modest =
      conformance::kit_of<broker>({.name = "modest", .can = less, .make = [] { return broker{}; }, .source = grouped});
  const auto found = std::ranges::find(conformance::checks(), "answers_are_as_declared", &conformance::check::name);
  EXPECT_EQ(found->run(modest).what, conformance::verdict::kind::failed);
}

} // namespace flaws
} // namespace millrace::memory
