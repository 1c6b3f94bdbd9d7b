// The other side: a plain program on nats.c, as its own examples are written.
#include "meter.hpp"
#include "natsc.hpp"

namespace bench::bare {
namespace {

struct raw_consumer {
  fed_meter& to;
  void on(natsMsg* m) const noexcept { to.message(static_cast<std::uint64_t>(natsMsg_GetDataLength(m))); }
};

struct json_consumer {
  fed_meter& to;
  order value;
  void on(natsMsg* m) {
    const std::string_view payload(natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m)));
    const auto decoded = millrace::json_codec::decode(millrace::as_bytes(payload), value);
    to.message(decoded ? value.id + static_cast<std::uint64_t>(value.quantity) : 0);
  }
};

template <class Consumer> int consume_with(const run_options& options, Consumer consumer) {
  const connection nc(options.url);
  natsSubscription* sub = nullptr;
  const auto on_message = [](natsConnection*, natsSubscription*, natsMsg* m, void* self) noexcept {
    static_cast<Consumer*>(self)->on(m);
    natsMsg_Destroy(m);
  };
  check(natsConnection_Subscribe(&sub, nc.get(), core_subject, on_message, &consumer), "subscribe");
  check(natsSubscription_SetPendingLimits(sub, pending_messages, pending_messages * 1024), "pending limits");
  check(natsConnection_Flush(nc.get()), "flush");
  fed_meter::ready();
  consumer.to.wait();
  consumer.to.report();
  natsSubscription_Unsubscribe(sub);
  std::_Exit(0);
}

} // namespace

int consume(const run_options& options, bool json) {
  fed_meter m(options.messages);
  if (json) return consume_with(options, json_consumer{m, {}});
  return consume_with(options, raw_consumer{m});
}

int publish(const run_options& options) {
  const connection nc(options.url);
  meter m(options.messages);
  m.begin();
  for (std::size_t i = 0; i < options.messages; ++i) {
    check(natsConnection_Publish(nc.get(), core_subject, sixteen_bytes.data(), static_cast<int>(sixteen_bytes.size())),
          "publish");
  }
  m.end();
  m.report();
  return 0;
}

int pull(const run_options& options) {
  const connection nc(options.url);
  jsCtx* js = nullptr;
  check(natsConnection_JetStream(&js, nc.get(), nullptr), "jetstream");
  jsSubOptions how;
  jsSubOptions_Init(&how);
  how.Stream = stream;
  how.Config.MaxAckPending = ack_pending;
  const std::string durable = consumer_name();
  natsSubscription* sub = nullptr;
  check(js_PullSubscribe(&sub, js, stream_subject, durable.c_str(), nullptr, &how, nullptr), "pull subscribe");
  meter m(options.messages);
  for (std::size_t done = 0; done < options.messages;) {
    natsMsgList list;
    check(natsSubscription_Fetch(&list, sub, pull_batch, 5000, nullptr), "fetch");
    for (int i = 0; i < list.Count; ++i, ++done) {
      check(natsMsg_Ack(list.Msgs[i], nullptr), "ack");
      m.message(static_cast<std::uint64_t>(natsMsg_GetDataLength(list.Msgs[i])));
    }
    natsMsgList_Destroy(&list);
  }
  m.report();
  natsSubscription_Unsubscribe(sub);
  natsSubscription_Destroy(sub);
  jsCtx_Destroy(js);
  return 0;
}

} // namespace bench::bare
