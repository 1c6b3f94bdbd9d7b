#include "stage.hpp"
#include "suites.hpp"

#include <utility>

namespace millrace::testing::conformance {
namespace {

bool transacts(const broker_kit& kit) { return kit.can().transactions || kit.can().owned_transactions; }
bool owns(const broker_kit& kit) { return kit.can().owned_transactions; }
bool has_no_borrowed(const broker_kit& kit) { return !kit.can().transactions; }
bool has_no_owned(const broker_kit& kit) { return !kit.can().owned_transactions; }
constexpr std::string_view needs_either = "`transactions` or `owned_transactions`";

/// Abandoned at the end, as the seam asks for.
class open_port {
 public:
  explicit open_port(std::unique_ptr<transaction_port> port) noexcept : port_(std::move(port)) {}
  open_port(open_port&&) noexcept = default;
  open_port& operator=(open_port&&) = delete;
  ~open_port() {
    if (port_) port_->abandon();
  }
  transaction_port* operator->() const noexcept { return port_.get(); }
  transaction_port& operator*() const noexcept { return *port_; }

 private:
  std::unique_ptr<transaction_port> port_;
};

/// A publisher with transactions, and a receiver, on one connection.
class bench {
 public:
  explicit bench(stage& on) : stage_(&on), name_(on.fresh()) {}

  task<void> open() {
    connection_ = co_await stage_->connect();
    in_ = co_await stage_->open(*connection_, name_);
    out_ = stage::publisher(*connection_);
  }
  task<void> shutdown() { co_await stage_->shutdown(*connection_); }
  /// Of the kind that the broker has.
  task<open_port> begin() {
    const auto kind = stage_->can().transactions ? transaction_kind::borrowed : transaction_kind::owned;
    auto begun = co_await out_->begin(kind);
    co_return open_port(value_of(std::move(begun), "begin a transaction"));
  }
  task<open_port> begin_owned() {
    auto begun = co_await out_->begin(transaction_kind::owned);
    co_return open_port(value_of(std::move(begun), "begin a transaction of one's own"));
  }
  task<void> publish(transaction_port& into, std::string payload) {
    co_await stage_->publish(into, name_, std::move(payload));
  }
  task<void> publish(std::string payload) { co_await stage_->publish(*out_, name_, std::move(payload)); }
  task<void> commit(open_port& transaction) {
    auto done = co_await transaction->commit();
    value_of(std::move(done), "commit");
  }
  task<void> abort(open_port& transaction) {
    auto done = co_await transaction->abort();
    value_of(std::move(done), "abort");
  }
  task<void> expect_next(std::string payload) {
    delivery d = co_await stage_->next(*in_);
    expect(d.text() == payload, "'" + std::string(d.text()) + "' arrived instead of '" + payload + "'");
    [[maybe_unused]] const auto settled = std::move(d).ack();
  }
  task<void> nothing(std::string what) { co_await stage_->nothing(*in_, std::move(what)); }
  [[nodiscard]] publish_port& out() const noexcept { return *out_; }

 private:
  stage* stage_;
  std::string name_;
  connection* connection_ = nullptr;
  receiver* in_ = nullptr;
  std::shared_ptr<publish_port> out_;
};

task<void> nothing_is_visible_before_the_commit(stage& on) {
  bench b(on);
  co_await b.open();
  open_port transaction = co_await b.begin();
  for (const char* payload : {"1", "2", "3"})
    co_await b.publish(*transaction, payload);
  co_await b.nothing("before the commit");
  co_await b.commit(transaction);
  for (const char* payload : {"1", "2", "3"})
    co_await b.expect_next(payload);
  co_await b.nothing("after the messages of the transaction");
}

task<void> an_abort_discards(stage& on) {
  bench b(on);
  co_await b.open();
  {
    open_port transaction = co_await b.begin();
    co_await b.publish(*transaction, "never");
    co_await b.abort(transaction);
  }
  co_await b.publish("after");
  co_await b.expect_next("after");
  co_await b.nothing("after an abort");
}

task<void> an_abandoned_one_is_aborted(stage& on) {
  bench b(on);
  co_await b.open();
  {
    open_port transaction = co_await b.begin();
    co_await b.publish(*transaction, "never");
  }
  {
    open_port next = co_await b.begin();
    co_await b.publish(*next, "next");
    co_await b.commit(next);
  }
  co_await b.expect_next("next");
  co_await b.nothing("after an abandoned transaction");
}

task<void> one_comes_after_the_other(stage& on) {
  bench b(on);
  co_await b.open();
  for (const char* payload : {"1", "2", "3"}) {
    open_port transaction = co_await b.begin();
    co_await b.publish(*transaction, payload);
    co_await b.commit(transaction);
    co_await b.expect_next(payload);
  }
  co_await b.publish("without");
  co_await b.expect_next("without");
}

task<void> an_empty_commit_is_no_error(stage& on) {
  bench b(on);
  co_await b.open();
  open_port transaction = co_await b.begin();
  co_await b.commit(transaction);
  co_await b.nothing("after an empty commit");
}

task<void> owned_ones_are_independent(stage& on) {
  bench b(on);
  co_await b.open();
  open_port first = co_await b.begin_owned();
  open_port second = co_await b.begin_owned();
  co_await b.publish(*first, "first");
  co_await b.publish(*second, "second");
  co_await b.publish("beside them");
  co_await b.expect_next("beside them");
  co_await b.commit(second);
  co_await b.expect_next("second");
  co_await b.abort(first);
  co_await b.nothing("after the abort of the other one");
}

/// Begun before the shutdown: never a silent success. Begun after it: refused.
task<void> a_commit_after_the_shutdown_is_refused(stage& on) {
  bench b(on);
  co_await b.open();
  open_port transaction = co_await b.begin();
  co_await b.publish(*transaction, "late");
  co_await b.shutdown();
  const auto committed = co_await transaction->commit();
  expect_error(committed, errc::closed, "a commit after the shutdown");
  for (const auto kind : {transaction_kind::borrowed, transaction_kind::owned}) {
    const bool declared = kind == transaction_kind::borrowed ? on.can().transactions : on.can().owned_transactions;
    if (!declared) continue;
    const auto begun = co_await b.out().begin(kind);
    expect_error(begun, errc::closed, "a transaction begun after the shutdown");
  }
}

task<void> expect_unsupported(stage& on, transaction_kind kind) {
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  auto begun = co_await out->begin(kind);
  if (begun) (*begun)->abandon();
  expect_error(begun, errc::unsupported, "a transaction where there are none");
}
task<void> a_borrowed_one_is_unsupported(stage& on) { return expect_unsupported(on, transaction_kind::borrowed); }
task<void> an_owned_one_is_unsupported(stage& on) { return expect_unsupported(on, transaction_kind::owned); }

} // namespace

void add_transactions(std::vector<check>& to) {
  const auto add = [&](std::string_view name, auto* body, std::string_view rules = {},
                       std::string_view needs = needs_either, bool (*applies)(const broker_kit&) = transacts) {
    to.push_back({"transactions", name, rules, needs, applies, body});
  };
  add("nothing_is_visible_before_the_commit", nothing_is_visible_before_the_commit);
  add("an_abort_discards", an_abort_discards);
  add("an_abandoned_one_is_aborted", an_abandoned_one_is_aborted);
  add("one_comes_after_the_other", one_comes_after_the_other);
  add("an_empty_commit_is_no_error", an_empty_commit_is_no_error);
  add("owned_ones_are_independent", owned_ones_are_independent, "", "`owned_transactions`", owns);
  add("a_commit_after_the_shutdown_is_refused", a_commit_after_the_shutdown_is_refused, "L4");
  add("a_borrowed_one_is_unsupported", a_borrowed_one_is_unsupported, "", "a publisher without `transactions`",
      has_no_borrowed);
  add("an_owned_one_is_unsupported", an_owned_one_is_unsupported, "", "a publisher without `owned_transactions`",
      has_no_owned);
}

} // namespace millrace::testing::conformance
