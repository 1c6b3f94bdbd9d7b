// What neither side is measured for: a publisher that follows the consumer's credits, and a filled stream.
#include "meter.hpp"
#include "natsc.hpp"

#include <unistd.h>

#include <algorithm>

namespace bench {

int feed(const run_options& options, bool json) {
  const connection nc(options.url);
  const std::string payload = json ? order_document() : std::string(sixteen_bytes);
  for (std::size_t left = options.messages; left > 0;) {
    char credit = 0;
    if (::read(STDIN_FILENO, &credit, 1) != 1) return 1; // the consumer is gone
    const std::size_t now = std::min(left, credit_messages);
    for (std::size_t i = 0; i < now; ++i) {
      check(natsConnection_Publish(nc.get(), core_subject, payload.data(), static_cast<int>(payload.size())),
            "publish");
    }
    left -= now;
  }
  check(natsConnection_Flush(nc.get()), "flush");
  return 0;
}

int fill_stream(const run_options& options) {
  const connection nc(options.url);
  jsCtx* js = nullptr;
  jsOptions how;
  jsOptions_Init(&how);
  how.PublishAsync.MaxPending = 4096;
  how.PublishAsync.StallWait = 30'000;
  check(natsConnection_JetStream(&js, nc.get(), &how), "jetstream");
  const char* subjects[] = {stream_subject};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = stream;
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Storage = js_MemoryStorage;
  check(js_AddStream(nullptr, js, &config, nullptr, nullptr), "add stream");
  for (std::size_t i = 0; i < options.messages; ++i) {
    check(js_PublishAsync(js, stream_subject, sixteen_bytes.data(), static_cast<int>(sixteen_bytes.size()), nullptr),
          "publish to the stream");
  }
  check(js_PublishAsyncComplete(js, nullptr), "the stream's acknowledgements");
  jsCtx_Destroy(js);
  return 0;
}

} // namespace bench
