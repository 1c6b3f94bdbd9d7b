// One service, three registrations, three codecs: JSON, CBOR and Protocol Buffers.
#include <millrace/cbor.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/protobuf.hpp>

#include <order.pb.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

struct order {
  std::uint64_t id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

using countdown = std::shared_ptr<std::atomic<int>>;
using orders = millrace::publisher<millrace::memory::publish>;

void show(std::uint64_t id, const std::string& item, millrace::context& ctx, const countdown& left) {
  const std::string size = std::to_string(ctx.payload().size());
  std::cout << std::string(ctx.subject()) + ": order " + std::to_string(id) + " of " + item + ", " + size + " bytes\n";
  if (--*left == 0) ctx.stop_service();
}

// The same order, as each registration reads it.
millrace::task<millrace::result<void>> send_three(orders to) {
  const order tea{7, "tea"};
  shop::order message;
  message.set_id(7);
  message.set_item("tea");

  auto sent = co_await to.publish("orders.json", tea);
  if (!sent) co_return millrace::fail(std::move(sent).error());
  sent = co_await to.message<millrace::cbor_codec>(tea).to("orders.cbor");
  if (!sent) co_return millrace::fail(std::move(sent).error());
  sent = co_await to.message<millrace::protobuf_codec>(message).to("orders.protobuf");
  if (!sent) co_return millrace::fail(std::move(sent).error());
  co_return millrace::result<void>{};
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "codecs", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});
  auto left = std::make_shared<std::atomic<int>>(3);

  const auto described = [left](const order& o, millrace::context& ctx) { show(o.id, o.item, ctx, left); };
  const auto generated = [left](const shop::order& o, millrace::context& ctx) { show(o.id(), o.item(), ctx, left); };
  on.subscribe("orders.json", described);
  on.with_codec<millrace::cbor_codec>().subscribe("orders.cbor", described);
  on.subscribe<millrace::protobuf_codec>("orders.protobuf", generated);

  auto to = on.publisher();
  app.after_startup([to] { return send_three(to); });
  return app.main(argc, argv);
}
