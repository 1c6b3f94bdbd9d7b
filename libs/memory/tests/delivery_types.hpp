#pragma once

#include <millrace/log.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>
#include <millrace/testing.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

/// What the tests of the delivery features share.
namespace delivery {

using namespace std::chrono_literals;
using millrace::testing::test_service;

struct order {
  int id = 0;
  std::string item;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, item))

using log_lines = std::shared_ptr<std::vector<std::string>>;
inline log_lines make_log() { return std::make_shared<std::vector<std::string>>(); }

/// A service on one embedded broker.
struct orders_service {
  explicit orders_service(millrace::memory::broker broker = millrace::memory::broker{})
      : on(app.with_broker(std::move(broker))) {}
  millrace::service<> app{{.title = "orders"}};
  millrace::scope<millrace::memory::broker> on;
};

/// Notes where each publish goes.
class noting_layer final : public millrace::publish_layer {
 public:
  explicit noting_layer(log_lines to) : to_(std::move(to)) {}
  millrace::task<millrace::result<millrace::receipt>> around(millrace::publish_draft& draft,
                                                             millrace::next_publish next) override {
    to_->emplace_back(draft.destination());
    return next();
  }

 private:
  log_lines to_;
};

} // namespace delivery
