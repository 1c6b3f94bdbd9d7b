// Requests over AMQP 1.0: a handler that returns a value answers the sender, at the address that the server made for
// it.
#include <millrace/amqp.hpp>
#include <millrace/millrace.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
namespace amqp = millrace::amqp;

struct question {
  std::string item;
  int quantity = 0;
};
BOOST_DESCRIBE_STRUCT(question, (), (item, quantity))

struct quote {
  int total = 0;
};
BOOST_DESCRIBE_STRUCT(quote, (), (total))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_ARTEMIS_URL");
  return url != nullptr ? url : "amqp://127.0.0.1:5672";
}

quote price(const question& q) { return quote{q.quantity * 12}; }

millrace::task<void> ask(millrace::publisher<amqp::publish> to) {
  const question q{"teapot", 3};
  auto answer = co_await to.message(q).to("example.quotes").request(20s);
  quote said;
  if (answer && millrace::json_codec::decode(millrace::as_bytes(answer->payload), said))
    std::cout << "three teapots cost " << said.total << '\n';

  auto silence = co_await to.message(q).to("example.nobody").request(200ms);
  if (!silence && silence.error() == millrace::errc::timeout) std::cout << "nobody answers\n";
}

int main() {
  millrace::service app{{.title = "amqp_rpc", .version = "1.0.0"}};
  auto on = app.with_broker(amqp::broker{server_url()}.container_id("quotes"));

  on.subscribe(amqp::queue{"example.quotes"}, price).workers(4).reply_to_sender();

  auto ran = app.run_until(ask(on.publisher(amqp::publish{}.to(amqp::node_kind::queue))));
  if (ran) return 0;
  std::cerr << ran.error().message() << '\n';
  return 1;
}
