#include "driver.hpp"

#include <millrace/testing/errors.hpp>
#include <millrace/testing/virtual_runtime.hpp>

#include <utility>

namespace millrace::testing {
namespace {

void must(result<void> done) {
  if (!done) throw unfinished_reaction(std::move(done).error());
}

class in_process_driver final : public driver {
 public:
  in_process_driver(in_process options, std::shared_ptr<recorder> record)
      : record_(std::move(record)), rt_(options.external_bound) {
    rt_.guard([seen = record_, limit = options.limit] { return seen->within(limit); });
  }

  connect_mode mode() const noexcept override { return connect_mode::in_process; }
  runtime& rt() noexcept override { return rt_; }
  void finish(task<void> work) override {
    record_->begin_reaction();
    rt_.drive(std::move(work));
  }
  void react() override { must(rt_.run()); }
  void settle() override {
    record_->begin_reaction();
    react();
  }
  void advance(duration d) override {
    record_->begin_reaction();
    must(rt_.advance(d));
  }
  bool wait(const std::function<bool()>& done, std::string& why) override {
    settle();
    if (done()) return true;
    why = "the service is quiescent; what waits for the clock needs advance";
    return false;
  }
  bool stop() noexcept override { return true; }

 private:
  std::shared_ptr<recorder> record_;
  virtual_runtime rt_;
};

} // namespace

std::unique_ptr<driver> make_driver(in_process options, std::shared_ptr<recorder> record) {
  return std::make_unique<in_process_driver>(options, std::move(record));
}

} // namespace millrace::testing
