#pragma once

#include <nats/nats.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace millrace::nats::test {

/// What a test asks of a server beside the library under test, with the plain client.
class admin {
 public:
  explicit admin(const std::string& url) {
    natsOptions* options = nullptr;
    check(natsOptions_Create(&options), "options");
    check(natsOptions_SetURL(options, url.c_str()), "url");
    check(natsOptions_SetTimeout(options, 20000), "timeout"); // a busy machine
    const natsStatus connected = natsConnection_Connect(&nc_, options);
    natsOptions_Destroy(options);
    check(connected, "connect");
    check(natsConnection_JetStream(&js_, nc_, nullptr), "jetstream");
  }
  admin(const admin&) = delete;
  admin& operator=(const admin&) = delete;
  ~admin() {
    jsCtx_Destroy(js_);
    natsConnection_Destroy(nc_);
  }

  void add_stream(const std::string& name, const std::vector<std::string>& subjects, bool memory = false,
                  bool work_queue = false) {
    std::vector<const char*> list;
    list.reserve(subjects.size());
    for (const std::string& one : subjects)
      list.push_back(one.c_str());
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name.c_str();
    config.Subjects = list.data();
    config.SubjectsLen = static_cast<int>(list.size());
    config.Storage = memory ? js_MemoryStorage : js_FileStorage;
    if (work_queue) config.Retention = js_WorkQueuePolicy;
    check(js_AddStream(nullptr, js_, &config, nullptr, nullptr), "add stream");
  }
  void delete_stream(const std::string& name) { check(js_DeleteStream(js_, name.c_str(), nullptr, nullptr), "delete"); }
  void purge(const std::string& name) { check(js_PurgeStream(js_, name.c_str(), nullptr, nullptr), "purge"); }
  void delete_consumer(const std::string& stream, const std::string& consumer) {
    check(js_DeleteConsumer(js_, stream.c_str(), consumer.c_str(), nullptr, nullptr), "delete consumer");
  }
  [[nodiscard]] std::uint64_t stored(const std::string& stream) {
    jsStreamInfo* info = nullptr;
    check(js_GetStreamInfo(&info, js_, stream.c_str(), nullptr, nullptr), "info");
    const std::uint64_t n = info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return n;
  }
  struct consumer_state {
    std::int64_t unacknowledged = 0;
    std::uint64_t pending = 0;
    std::uint64_t ack_floor = 0;
    std::int64_t redelivered = 0;
    std::string filter;
    std::int64_t max_ack_pending = 0;
    std::int64_t ack_wait = 0;
    std::int64_t waiting = 0; ///< pull requests that the server holds
  };
  [[nodiscard]] consumer_state consumer(const std::string& stream, const std::string& name) {
    jsConsumerInfo* info = nullptr;
    check(js_GetConsumerInfo(&info, js_, stream.c_str(), name.c_str(), nullptr, nullptr), "consumer info");
    consumer_state s;
    s.unacknowledged = info->NumAckPending;
    s.waiting = info->NumWaiting;
    s.pending = info->NumPending;
    s.ack_floor = info->AckFloor.Stream;
    s.redelivered = info->NumRedelivered;
    s.filter = info->Config->FilterSubject == nullptr ? "" : info->Config->FilterSubject;
    s.max_ack_pending = info->Config->MaxAckPending;
    s.ack_wait = info->Config->AckWait;
    jsConsumerInfo_Destroy(info);
    return s;
  }
  [[nodiscard]] std::vector<std::string> consumers(const std::string& stream) {
    jsConsumerNamesList* list = nullptr;
    std::vector<std::string> names;
    if (js_ConsumerNames(&list, js_, stream.c_str(), nullptr, nullptr) != NATS_OK) return names;
    for (int i = 0; i < list->Count; ++i)
      names.emplace_back(list->List[i]);
    jsConsumerNamesList_Destroy(list);
    return names;
  }

  /// Waits until the stream has it.
  void store(const std::string& subject, const std::string& payload) {
    check(js_Publish(nullptr, js_, subject.c_str(), payload.data(), static_cast<int>(payload.size()), nullptr, nullptr),
          "store");
  }
  void publish(const std::string& subject, const std::string& payload) {
    check(natsConnection_Publish(nc_, subject.c_str(), payload.data(), static_cast<int>(payload.size())), "publish");
  }
  /// Headers as they are, checked by nobody.
  void publish_with(const std::string& subject, const std::string& payload,
                    const std::vector<std::pair<std::string, std::string>>& headers) {
    natsMsg* m = nullptr;
    check(natsMsg_Create(&m, subject.c_str(), nullptr, payload.data(), static_cast<int>(payload.size())), "message");
    for (const auto& [name, value] : headers)
      check(natsMsgHeader_Add(m, name.c_str(), value.c_str()), "header");
    check(natsConnection_PublishMsg(nc_, m), "publish");
    natsMsg_Destroy(m);
  }
  void flush() { check(natsConnection_Flush(nc_), "flush"); }

 private:
  static void check(natsStatus status, const char* what) {
    if (status != NATS_OK) throw std::runtime_error(std::string(what) + ": " + natsStatus_GetText(status));
  }
  natsConnection* nc_ = nullptr;
  jsCtx* js_ = nullptr;
};

} // namespace millrace::nats::test
