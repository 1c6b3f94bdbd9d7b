// What handlers and publishers do in each scenario.
#include "scenarios.hpp"

#include <cstdlib>
#include <span>
#include <string>

namespace bench_cost {

struct order {
  std::uint64_t id = 0;
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item, quantity))

struct order_headers {
  std::string tenant;
  int priority = 0;
};
BOOST_DESCRIBE_STRUCT(order_headers, (), (tenant, priority))

namespace {

using namespace std::string_view_literals;
using millrace::bytes_view;
using millrace::task;

constexpr std::string_view document = R"({"id":12345,"item":"keyboard","quantity":3})";
constexpr millrace::duration patience = std::chrono::seconds(30);

millrace::outcome on_raw(bytes_view payload) {
  sum += payload.size();
  current.message();
  return millrace::ack();
}
millrace::outcome on_batch(std::span<const bytes_view> batch) {
  for (const bytes_view payload : batch)
    sum += payload.size();
  current.message(batch.size());
  return millrace::ack();
}
millrace::outcome on_json(const order& o) {
  sum += o.id + o.item.size() + static_cast<std::uint64_t>(o.quantity);
  current.message();
  return millrace::ack();
}
task<millrace::outcome> on_coroutine(bytes_view payload) {
  sum += payload.size();
  current.message();
  co_return millrace::ack();
}
task<std::uint64_t> nested(bytes_view payload) { co_return payload.size(); }
task<millrace::outcome> on_nested(bytes_view payload) {
  sum += co_await nested(payload);
  current.message();
  co_return millrace::ack();
}
order on_reply(const order& o) {
  sum += o.id;
  current.message();
  return {o.id, o.item, o.quantity + 1};
}
bytes_view on_question(bytes_view payload) {
  sum += payload.size();
  return payload;
}

struct shipped {
  static constexpr std::string_view name = "shipped";
  using messages = millrace::messages<order>;
};
task<millrace::outcome> on_headers(const order& o, const millrace::typed_headers<order_headers>& headers,
                                   millrace::out<shipped> out) {
  sum += headers->tenant.size() + static_cast<std::uint64_t>(headers->priority);
  current.message();
  const auto sent = co_await out.publish("answers", o);
  if (!sent) std::abort();
  co_return millrace::ack();
}

/// One of several: looks at each message before and after.
class counting final : public millrace::interceptor {
 public:
  std::optional<millrace::outcome> before(millrace::context& ctx) override {
    sum += ctx.subject().size();
    return std::nullopt;
  }
  void after(millrace::context& /*ctx*/, millrace::outcome& answer) override {
    sum += static_cast<std::uint64_t>(answer.kind());
  }
};

template <auto Handler> void with(scope& on) { on.subscribe("orders", Handler); }
void with_batches(scope& on) { on.subscribe_batches("orders", 64, on_batch); }
void with_middleware(scope& on) {
  on.subscribe("orders", on_raw).use(counting{}).use(counting{}).use(counting{}).use(counting{});
}
void with_reply(scope& on) { on.subscribe("orders", on_reply).reply("answers"); }
void with_workers(scope& on) { on.subscribe("orders", on_raw).workers(4); }
void with_headers(scope& on) { on.subscribe("orders", on_headers).bind<shipped>(on.publisher()); }
void with_answers(scope& on) { on.subscribe("orders", on_question).reply_to_sender(); }

task<void> fill(queue to, std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(document).to("orders");
    if (!sent) std::abort();
  }
}
task<void> fill_json(queue to, std::size_t messages) {
  const order o{12345, "keyboard", 3};
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.publish("orders", o);
    if (!sent) std::abort();
  }
}
task<void> fill_with_headers(queue to, std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    const auto sent = co_await to.text(document).to("orders").header("tenant", "acme").header("priority", "7");
    if (!sent) std::abort();
  }
}
task<void> ask(queue to, std::size_t questions) {
  for (std::size_t i = 0; i < questions; ++i) {
    const auto answer = co_await to.text(document).to("orders").request(patience);
    if (!answer) std::abort();
    sum += answer->payload.size();
  }
}

} // namespace

const std::map<std::string_view, scenario>& scenarios() {
  static const std::map<std::string_view, scenario> all{
      {"consume.raw"sv, {with<on_raw>, fill}},
      {"consume.json"sv, {with<on_json>, fill}},
      {"consume.coroutine"sv, {with<on_coroutine>, fill}},
      {"consume.coroutine_nested"sv, {with<on_nested>, fill}},
      {"consume.workers4"sv, {with_workers, fill}},
      {"consume.middleware4"sv, {with_middleware, fill}},
      {"batch64.raw"sv, {with_batches, fill}},
      {"reply.json"sv, {with_reply, fill}},
      {"headers_publish"sv, {with_headers, fill_with_headers}},
      {"request_reply"sv, {with_answers, ask, counted::asking}},
      {"publish.raw"sv, {with<on_raw>, fill, counted::filling}},
      {"publish.json"sv, {with<on_raw>, fill_json, counted::filling}},
  };
  return all;
}

} // namespace bench_cost
