// A batch handler: one call for up to four messages, an outcome for each. A payload that does not decode is settled
// alone and is not part of the batch.
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace std::chrono_literals;

struct reading {
  int sensor = 0;
  double value = 0;
};
BOOST_DESCRIBE_STRUCT(reading, (), (sensor, value))

/// One outcome an element, in the order of the batch.
std::vector<millrace::outcome> store(std::span<const reading> batch) {
  std::cout << "a batch of " + std::to_string(batch.size()) + "\n";
  std::vector<millrace::outcome> each;
  for (const reading& r : batch) {
    const auto warn = [sensor = r.sensor] { std::cout << "sensor " + std::to_string(sensor) + " is broken\n"; };
    if (r.value < 1000)
      each.push_back(millrace::ack());
    else
      each.push_back(millrace::drop().then(warn));
  }
  return each;
}

int main(int argc, char** argv) {
  millrace::service app{{.title = "batches", .version = "1.0.0"}};
  auto on = app.with_broker(millrace::memory::broker{});

  auto left = std::make_shared<std::atomic<int>>(10);
  const auto handler = [left](std::span<const reading> batch, millrace::context& ctx) {
    if ((*left -= static_cast<int>(batch.size())) == 0) ctx.stop_service();
    return store(batch);
  };
  on.subscribe_batches("readings", 4, handler).batch_wait(50ms);

  auto readings = on.publisher();
  app.after_startup([readings]() -> millrace::task<millrace::result<void>> {
    for (int i = 1; i <= 10; ++i) {
      reading r{i, 20.5};
      if (i == 7) r.value = 9999;
      auto sent = co_await readings.publish("readings", r);
      if (!sent) co_return millrace::fail(std::move(sent).error());
    }
    auto garbage = co_await readings.text("not JSON").to("readings");
    if (!garbage) co_return millrace::fail(std::move(garbage).error());
    co_return millrace::result<void>{};
  });
  return app.main(argc, argv);
}
