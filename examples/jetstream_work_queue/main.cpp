// A work queue on JetStream: jobs are stored, a durable consumer shares them among the processes that use its name, a
// job that fails comes back later, and one that keeps failing ends as a dead letter.
#include <millrace/millrace.hpp>
#include <millrace/nats.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

using namespace std::chrono_literals;

struct job {
  std::string name;
  int fails = 0; ///< how often it fails before it succeeds
};
BOOST_DESCRIBE_STRUCT(job, (), (name, fails))

std::string server_url() {
  const char* url = std::getenv("MILLRACE_NATS_URL");
  return url != nullptr ? url : "nats://127.0.0.1:4222";
}

// Streams belong to whoever runs the server, so Millrace creates none; a service can ask JetStream's own API for one.
// It must be there before a subscription to it opens, hence a service of its own.
millrace::task<void> create_stream(millrace::publisher<millrace::nats::publish> api) {
  constexpr std::string_view work =
      R"({"name":"WORK","subjects":["work.*"],"retention":"workqueue","storage":"memory"})";
  auto answer = co_await api.text(work).to("$JS.API.STREAM.CREATE.WORK").request(5s);
  if (answer)
    std::cout << "the server says: " << answer->payload.substr(0, 60) << "...\n";
  else
    std::cout << answer.error().message() << '\n';
}

millrace::outcome work(const job& j, millrace::context& ctx, millrace::field<millrace::nats::stream_sequence> at) {
  const bool fails = static_cast<int>(ctx.attempt()) <= j.fails;
  std::cout << "job " + j.name + ", message " + std::to_string(at.value_or(0)) + ", attempt " +
                   std::to_string(ctx.attempt()) + (fails ? ": fails\n" : ": done\n");
  if (fails) return millrace::retry_after(100ms);
  return millrace::ack();
}

int main(int argc, char** argv) {
  millrace::service setup{{.title = "create the stream"}};
  auto admin = setup.with_broker(millrace::nats::broker{server_url()});
  auto created = setup.run_until(create_stream(admin.publisher()));
  if (!created) std::cout << created.error().message() << '\n';

  millrace::service app{{.title = "jetstream_work_queue", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::nats::broker{server_url()});

  auto left = std::make_shared<std::atomic<int>>(3);
  const auto one_less = [left](millrace::context& ctx) {
    if (--*left == 0) ctx.stop_service();
  };

  on.subscribe(millrace::nats::jetstream("WORK", "work.jobs").durable("workers").ack_wait(10s),
               [one_less](const job& j, millrace::context& ctx, millrace::field<millrace::nats::stream_sequence> at) {
                 auto answer = work(j, ctx, at);
                 if (answer.kind() == millrace::settlement_kind::ack) one_less(ctx);
                 return answer;
               })
      .workers(2)
      .max_attempts(3)
      .dead_letter("dead.jobs");

  on.subscribe("dead.jobs", [one_less](const job& j, millrace::context& ctx) {
    std::cout << "job " + j.name + " is given up\n";
    one_less(ctx);
  });

  // Success means that the stream has stored it; a repeat under the same id is acknowledged and not stored again.
  auto jobs = on.publisher(millrace::nats::jetstream_publish{});
  app.after_startup([jobs]() -> millrace::task<millrace::result<void>> {
    const job examples[] = {{"resize", 0}, {"upload", 1}, {"translate", 99}, {"resize", 0}};
    for (const job& j : examples) {
      auto stored = co_await jobs.message(j).to("work.jobs").with(millrace::nats::message_id("job-" + j.name));
      if (!stored) co_return millrace::fail(std::move(stored).error());
      std::cout << j.name + ": message " + std::to_string(stored->sequence) + " of stream " + stored->id +
                       (stored->duplicate ? ", stored before\n" : "\n");
    }
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
