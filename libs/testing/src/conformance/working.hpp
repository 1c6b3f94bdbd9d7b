#pragma once

#include "recorder.hpp"
#include "stage.hpp"

#include <memory>
#include <string>

namespace millrace::testing::conformance {

/// A service over one name of the kit's broker, and its publisher.
class working {
 public:
  explicit working(stage& on)
      : name(on.fresh()), seen(std::make_shared<recorder>(on.rt())), stage_(&on), made_({.title = "conformance"}),
        broker_(&on.mount(made_)), out_(broker_->publisher()) {}

  [[nodiscard]] mounted& broker() const noexcept { return *broker_; }
  [[nodiscard]] stage& on() const noexcept { return *stage_; }
  [[nodiscard]] std::string destination() const { return stage_->kit().destination(name); }
  /// Where retry copies go, if the source does not know by itself.
  registration& addressed(registration& r) const {
    const bool named = stage_->kit().retries(name).how == retry_path::kind::named;
    return named ? r.retry_to(destination()) : r;
  }

  task<void> start() { co_await stage_->start(made_); }
  task<void> publish(std::string payload) {
    const header_map none;
    auto sent = co_await out_->publish(destination(), std::move(payload), none);
    value_of(std::move(sent), "publish");
  }
  task<void> publish_keyed(std::string payload, std::string key) {
    auto sent = co_await out_->publish_keyed(destination(), std::move(payload), std::move(key));
    value_of(std::move(sent), "publish with a key");
  }
  task<handled> next() { return seen->next(patience + stage_->kit().quiet()); }
  task<void> nothing(std::string what) { return seen->nothing(stage_->kit().quiet(), std::move(what)); }

  const std::string name;
  const std::shared_ptr<recorder> seen;

 private:
  stage* stage_;
  service<> made_;
  mounted* broker_;
  std::unique_ptr<sender> out_;
};

} // namespace millrace::testing::conformance
