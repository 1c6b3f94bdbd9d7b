// RPC over direct reply-to: the answer comes over the asker's own channel, without a queue. A question that no queue
// takes fails at once.
#include <millrace/millrace.hpp>
#include <millrace/rabbitmq.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
namespace rabbitmq = millrace::rabbitmq;

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
  const char* url = std::getenv("MILLRACE_RABBITMQ_URL");
  return url != nullptr ? url : "amqp://guest:guest@127.0.0.1:5672";
}

quote price(const question& q) { return quote{q.quantity * 12}; }

millrace::task<void> ask(millrace::publisher<rabbitmq::request> to) {
  const question q{"teapot", 3};
  auto answer = co_await to.message(q).to("quotes").request(10s);
  quote said;
  if (answer && millrace::json_codec::decode(millrace::as_bytes(answer->payload), said))
    std::cout << "three teapots cost " << said.total << '\n';

  auto refused = co_await to.message(q).to("nobody").request(60s);
  if (!refused && refused.error() == millrace::errc::publish) std::cout << "nobody listens\n";
}

int main() {
  millrace::service app{{.title = "rabbitmq_rpc", .version = "1.0.0"}};
  auto on = app.with_broker(rabbitmq::broker{server_url()}.prefetch(16).declare_topology(true));

  on.subscribe(rabbitmq::queue{"quotes"}.durable(false).auto_delete(), price).workers(4).reply_to_sender();

  auto ran = app.run_until(ask(on.publisher(rabbitmq::request{})));
  if (ran) return 0;
  std::cerr << ran.error().message() << '\n';
  return 1;
}
