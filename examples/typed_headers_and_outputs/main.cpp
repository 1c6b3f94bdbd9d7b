// Typed headers, named outputs and two brokers: orders arrive on one broker, parcels leave on another, and the handler
// names neither.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

enum class priority { normal, express };
BOOST_DESCRIBE_ENUM(priority, normal, express)

/// The headers of an order: `tenant`, `priority` and, where there is one, `trace-id`.
struct order_headers {
  std::string tenant;
  ::priority priority = ::priority::normal;
  std::optional<std::uint64_t> trace_id;
};
BOOST_DESCRIBE_STRUCT(order_headers, (), (tenant, priority, trace_id))

struct order {
  std::uint64_t id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

struct parcel_headers {
  bool express = false;
};
BOOST_DESCRIBE_STRUCT(parcel_headers, (), (express))

/// Says itself where it goes and which headers it carries: what is left open must be given to every publish.
struct parcel {
  static constexpr millrace::address_template destination{"parcels.{tenant}"};
  using headers = parcel_headers;
  std::uint64_t order = 0;
};
BOOST_DESCRIBE_STRUCT(parcel, (), (order))

/// An output: the types that may leave through it. The registration says where it leads.
struct parcels {
  static constexpr std::string_view name = "parcels";
  using messages = millrace::messages<parcel>;
};

millrace::task<millrace::outcome> pack(const order& o, const millrace::typed_headers<order_headers>& h,
                                       millrace::out<parcels> to) {
  const parcel p{o.id};
  const parcel_headers about{h->priority == priority::express};
  auto sent = co_await to.message(p).fill<"tenant">(h->tenant).headers(about);
  if (!sent) co_return millrace::retry();
  co_return millrace::ack();
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "typed_headers_and_outputs", .version = "1.0.0"}};
  auto shop = app.with_broker("shop", millrace::memory::broker{"shop"});
  auto depot = app.with_broker("depot", millrace::memory::broker{"depot"});

  shop.subscribe("orders", pack).bind<parcels>(depot.publisher());

  depot.subscribe("parcels.eu",
                  [](const parcel& p, millrace::context& ctx, const millrace::typed_headers<parcel_headers>& h) {
                    std::cout << "order " << p.order << (h->express ? " by express\n" : " by post\n");
                    if (p.order == 3) ctx.stop_service();
                  });

  auto orders = shop.publisher();
  app.after_startup([orders]() -> millrace::task<millrace::result<void>> {
    const order first{1, "tea"};
    auto sent = co_await orders.message(first).to("orders").header("tenant", "eu").header("priority", "express");
    if (!sent) co_return millrace::fail(std::move(sent).error());
    // Without a priority: the contract is not met, and the policy for undecodable messages drops it.
    const order second{2, "coffee"};
    sent = co_await orders.message(second).to("orders").header("tenant", "eu");
    if (!sent) co_return millrace::fail(std::move(sent).error());
    const order third{3, "cocoa"};
    sent = co_await orders.message(third).to("orders").header("tenant", "eu").header("priority", "normal");
    if (!sent) co_return millrace::fail(std::move(sent).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
