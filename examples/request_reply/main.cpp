// Request and reply on NATS: a handler whose answer goes to whoever asked, and a client that asks with a deadline.
#include <millrace/millrace.hpp>
#include <millrace/nats.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

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
  const char* url = std::getenv("MILLRACE_NATS_URL");
  return url != nullptr ? url : "nats://127.0.0.1:4222";
}

quote price(const question& q) { return quote{q.quantity * 12}; }

using client = millrace::publisher<millrace::nats::publish>;

millrace::task<void> ask(client to) {
  const question q{"teapot", 3};
  auto answer = co_await to.message(q).to("quotes").header("tenant", "eu").request(5s);
  quote said;
  if (answer && millrace::json_codec::decode(millrace::as_bytes(answer->payload), said))
    std::cout << "three teapots cost " << said.total << '\n';

  // Nobody subscribes: the server says so at once, long before the deadline.
  auto refused = co_await to.message(q).to("nobody").request(60s);
  if (!refused && refused.error() == millrace::errc::publish) std::cout << "nobody listens\n";

  // Somebody hears it and does not answer.
  auto missed = co_await to.message(q).to("silence").request(100ms);
  if (!missed && missed.error() == millrace::errc::timeout) std::cout << "no answer in time\n";
}

int main() {
  millrace::service app{{.title = "request_reply", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::nats::broker{server_url()});

  on.subscribe("quotes", price).workers(4).reply_to_sender();
  on.subscribe("silence", [](millrace::bytes_view) {});

  auto ran = app.run_until(ask(on.publisher()));
  if (ran) return 0;
  std::cerr << ran.error().message() << '\n';
  return 1;
}
