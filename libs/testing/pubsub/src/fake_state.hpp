#pragma once

#include "cloud/cloud.hpp"

#include <millrace/testing/pubsub.hpp>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace millrace::testing {

/// The service without a network is that of the in-process mode.
namespace model = pubsub::detail;
namespace wire = pubsub::wire;

/// The server, its service and its clock. Everything happens under one mutex; reactors only start operations there.
class fake_pubsub::state final : public grpc::CallbackGenericService {
 public:
  state(std::uint16_t port, const fake_pubsub::certificate* shown);
  ~state() override;

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

  struct script {
    std::deque<model::call_status> failures;
    std::chrono::milliseconds slow{0};
    bool held = false;
    bool recorded = false;
    std::size_t calls = 0;
    std::vector<std::string> bodies;
    std::vector<std::function<void()>> waiting; ///< answers that are held
  };

  /// Counts and records a call; what the script says of it, if it fails.
  [[nodiscard]] std::optional<model::call_status> begin_call(model::method which, const std::string& body);
  [[nodiscard]] model::call_answer answer(model::method which, const std::string& body);
  /// Runs `send` now, later or when it is let go, as the script says. With the mutex held, then and now.
  void reply(model::method which, std::function<void()> send);
  [[nodiscard]] script& script_of(model::method which) { return scripts_[static_cast<std::size_t>(which)]; }
  /// Throws `std::invalid_argument` if there is no such method.
  [[nodiscard]] script& script_of(std::string_view method);
  /// What became due; and wakes the clock for what comes next.
  void run();

  std::mutex mutex;
  model::cloud service;
  std::string last_authorization;
  std::size_t acks_refused_for_now = 0;
  std::set<std::string, std::less<>> refused_payloads;
  int port = 0;

 private:
  void keep_time();
  [[nodiscard]] std::optional<model::call_status> scripted_refusal(model::method which, const std::string& body);

  std::array<script, model::methods> scripts_;
  std::multimap<time_point, std::function<void()>> later_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::unique_ptr<grpc::Server> server_;
  std::thread clock_;
};

} // namespace millrace::testing
