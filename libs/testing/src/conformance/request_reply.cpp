#include "messages.hpp"
#include "stage.hpp"
#include "suites.hpp"

namespace millrace::testing::conformance {
namespace {

bool requests(const broker_kit& kit) { return kit.can().requests; }
bool refuses(const broker_kit& kit) { return kit.can().requests && kit.can().refuses_unheard; }
bool honest(const broker_kit& kit) { return !kit.can().requests; }

/// Where an answer goes, and what its asker knows the question by.
struct return_address {
  explicit return_address(const delivery& question)
      : inbox(question.reply_to()), correlation(question.headers().get("correlation-id").value_or("")) {}
  friend bool operator==(const return_address&, const return_address&) = default;
  std::string inbox;
  std::string correlation;
};

/// A requester, and a receiver that plays the responder, on one connection.
class exchange {
 public:
  explicit exchange(stage& on) : stage_(&on), name_(on.fresh()) {}

  static task<exchange*> open(stage& on) {
    exchange& made = on.keep<exchange>(on);
    co_await made.connect();
    co_return &made;
  }
  task<void> connect() {
    connection* c = co_await stage_->connect();
    in_ = co_await stage_->open(*c, name_);
    out_ = stage::publisher(*c);
  }
  task<result<reply_message>> ask(std::string question, duration timeout, header_map headers = {}) {
    const std::string destination = stage_->kit().destination(name_);
    const outgoing message{destination, as_bytes(question), &headers};
    auto answer = co_await out_->request(message, timeout);
    co_return answer;
  }
  task<delivery> next() {
    delivery heard = co_await stage_->next(*in_);
    expect(!heard.reply_to().empty(), "the responder is not told where the answer goes");
    co_return heard;
  }
  task<void> answer(return_address to, std::string text, header_map headers = {}) {
    if (!to.correlation.empty()) headers.set("correlation-id", to.correlation);
    auto sent = co_await publish_with(stage_->rt(), out_, to.inbox, std::move(text), &headers);
    value_of(std::move(sent), "publish of the answer to '" + to.inbox + "'");
  }
  /// Hears one question and answers with its text, "re: " in front, and its headers.
  task<void> respond() {
    delivery heard = co_await next();
    const return_address asker(heard);
    const std::string text = "re: " + std::string(heard.text());
    const header_map headers = heard.headers();
    [[maybe_unused]] const auto settled = std::move(heard).ack();
    co_await answer(asker, text, headers);
  }

  /// One question and its answer, so that a short deadline after it is not spent on opening what opens with the first.
  task<void> meet() {
    stage_->beside(respond(), "the responder");
    auto answered = co_await ask("hello?", patience);
    value_of(std::move(answered), "the first request");
  }

  [[nodiscard]] stage& on() const noexcept { return *stage_; }

 private:
  stage* stage_;
  std::string name_;
  receiver* in_ = nullptr;
  std::shared_ptr<publish_port> out_;
};

/// A request that runs beside the check.
class asking {
 public:
  explicit asking(exchange& x) : over_(x.on().rt()) {}
  static asking& start(exchange& x, std::string question) {
    asking& made = x.on().keep<asking>(x);
    x.on().beside(made.run(x, std::move(question)), "a request");
    return made;
  }
  task<std::string> text() {
    co_await over_.wait();
    reply_message got = value_of(std::move(*answer_), "the request");
    co_return std::move(got.payload);
  }

 private:
  task<void> run(exchange& x, std::string question) {
    auto got = co_await x.ask(std::move(question), patience);
    answer_.emplace(std::move(got));
    over_.set();
  }
  event over_;
  std::optional<result<reply_message>> answer_;
};

task<void> a_request_is_answered(stage& on) {
  exchange& x = *co_await exchange::open(on);
  const header_map headers = sample_headers();
  on.beside(x.respond(), "the responder");
  auto answered = co_await x.ask("how much?", patience, headers);
  const reply_message reply = value_of(std::move(answered), "a request");
  expect(reply.payload == "re: how much?", "another answer arrived: '" + reply.payload + "'");
  expect_headers(reply.headers, headers);
}

task<void> answers_find_their_requests(stage& on) {
  exchange& x = *co_await exchange::open(on);
  asking& one = asking::start(x, "1");
  const delivery first = co_await x.next();
  asking& two = asking::start(x, "2");
  const delivery second = co_await x.next();
  const return_address askers[] = {return_address(first), return_address(second)};
  expect(askers[0] != askers[1], "nothing tells the answers to two requests under way apart");
  co_await x.answer(askers[1], "to 2");
  co_await x.answer(askers[0], "to 1");
  const std::string to_one = co_await one.text();
  const std::string to_two = co_await two.text();
  expect(to_one == "to 1" && to_two == "to 2", "the answers went '" + to_one + "' and '" + to_two + "'");
}

task<void> silence_ends_at_the_deadline(stage& on) {
  constexpr duration deadline = std::chrono::milliseconds(300);
  exchange& x = *co_await exchange::open(on);
  co_await x.meet();
  const time_point began = on.rt().now();
  const auto answer = co_await x.ask("anybody?", deadline);
  const duration took = on.rt().now() - began;
  expect_error(answer, errc::timeout, "a request that was heard and not answered");
  expect(took >= deadline, "a request gave up before its deadline");
  expect(took <= deadline + (on.live() ? patience : duration::zero()), "a request gave up only after its deadline");
  [[maybe_unused]] const delivery heard = co_await x.next();
}

task<void> nobody_listens_is_said_at_once(stage& on) {
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  const std::string destination = on.kit().destination(stage::unused());
  const outgoing question{destination, as_bytes("anybody?")};
  const time_point began = on.rt().now();
  const auto answer = co_await out->request(question, 2 * patience);
  expect_error(answer, errc::publish, "a request that nobody listens to", destination);
  expect(on.rt().now() - began < patience, "the answer that nobody listens came only after 10 s");
}

task<void> a_late_answer_answers_nothing_else(stage& on) {
  exchange& x = *co_await exchange::open(on);
  co_await x.meet();
  const auto missed = co_await x.ask("first", std::chrono::milliseconds(50));
  expect_error(missed, errc::timeout, "a request that was not answered in time");
  const delivery first = co_await x.next();
  const return_address stale(first);
  asking& later = asking::start(x, "second");
  const delivery second = co_await x.next();
  const return_address asker(second);
  co_await x.answer(stale, "late");
  co_await x.answer(asker, "in time");
  const std::string got = co_await later.text();
  expect(got == "in time", "the second request was answered with '" + got + "'");
}

task<void> a_request_is_unsupported(stage& on) {
  connection* c = co_await on.connect();
  const auto out = stage::publisher(*c);
  const std::string destination = on.kit().destination(on.fresh());
  const outgoing question{destination, as_bytes("anybody?")};
  const auto answer = co_await out->request(question, patience);
  expect_error(answer, errc::unsupported, "a request where there are none", destination);
}

} // namespace

void add_request_reply(std::vector<check>& to) {
  const auto add = [&](std::string_view name, auto* body, std::string_view needs, bool (*applies)(const broker_kit&)) {
    to.push_back({"request_reply", name, "", needs, applies, body});
  };
  add("a_request_is_answered", a_request_is_answered, "`requests`", requests);
  add("answers_find_their_requests", answers_find_their_requests, "`requests`", requests);
  add("silence_ends_at_the_deadline", silence_ends_at_the_deadline, "`requests`", requests);
  add("nobody_listens_is_said_at_once", nobody_listens_is_said_at_once, "`requests` and `refuses_unheard`", refuses);
  add("a_late_answer_answers_nothing_else", a_late_answer_answers_nothing_else, "`requests`", requests);
  add("a_request_is_unsupported", a_request_is_unsupported, "a publisher without `requests`", honest);
}

} // namespace millrace::testing::conformance
