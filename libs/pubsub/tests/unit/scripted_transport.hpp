#pragma once

#include "transport/transport.hpp"

#include <pubsub_wire.pb.h>

#include <map>
#include <string>
#include <vector>

namespace millrace::pubsub::detail {

/// A transport without a server: the test answers calls and speaks for streams. One thread.
class scripted_transport final : public transport {
 public:
  struct sent_call {
    method which;
    std::string body;
    call_done done;
  };
  class stream final : public pull_stream {
   public:
    void send(std::string request) noexcept override { sent.push_back(std::move(request)); }
    void read() noexcept override { ++reads; }
    void finish() noexcept override { finished = true; }
    void cancel() noexcept override { cancelled = true; }
    std::string first;
    std::shared_ptr<stream_events> events;
    std::vector<std::string> sent;
    int reads = 0;
    bool finished = false;
    bool cancelled = false;
  };

  void call(const call_request& request, call_done done) noexcept override {
    calls.push_back({request.which, *request.body, std::move(done)});
  }
  std::shared_ptr<pull_stream> open(std::string first, std::string_view,
                                    std::shared_ptr<stream_events> e) noexcept override {
    streams.push_back(std::make_shared<stream>());
    streams.back()->first = std::move(first);
    streams.back()->events = std::move(e);
    return streams.back();
  }
  task<void> close(time_point) override { co_return; }
  void abandon() noexcept override { calls.clear(); }
  [[nodiscard]] deliver_from delivers_from() const noexcept override { return deliver_from::anywhere; }

  /// Every call that waits is answered in the same way.
  void answer_all(status_code code = status_code::ok) {
    auto waiting = std::exchange(calls, {});
    for (sent_call& one : waiting) {
      call_answer a;
      a.status.code = code;
      if (one.which == method::modify_ack_deadline) modified.push_back(one.body);
      if (one.which == method::acknowledge) acked.push_back(one.body);
      one.done(std::move(a));
    }
  }
  /// The oldest call that waits fails, with what google.rpc.ErrorInfo says of ids.
  void refuse_one(const std::map<std::string, std::string>& ids) {
    sent_call one = std::move(calls.front());
    calls.erase(calls.begin());
    wire::ErrorInfo info;
    for (const auto& [id, why] : ids)
      (*info.mutable_metadata())[id] = why;
    wire::Status status;
    wire::Any& any = *status.add_details();
    any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
    any.set_value(info.SerializeAsString());
    call_answer a;
    a.status.code = status_code::failed_precondition;
    a.status.details = status.SerializeAsString();
    one.done(std::move(a));
  }
  /// (seconds, ids) of the changes of deadlines that were answered.
  [[nodiscard]] std::vector<wire::ModifyAckDeadlineRequest> changes() const {
    std::vector<wire::ModifyAckDeadlineRequest> all;
    for (const std::string& body : modified)
      (void)all.emplace_back().ParseFromString(body);
    return all;
  }

  std::vector<sent_call> calls;
  std::vector<std::shared_ptr<stream>> streams;
  std::vector<std::string> modified;
  std::vector<std::string> acked;
};

} // namespace millrace::pubsub::detail
