// A subscription that always has a next message gives the others of its thread their turn.
#include "support.hpp"

#include <millrace/memory.hpp>

#include <gtest/gtest.h>

#include <span>

namespace core_test {
namespace {

task<void> publish_again(publisher<memory::publish> to) {
  auto sent = co_await to.text("again").to("endless");
  static_cast<void>(sent);
}

class endless : public rig {
 public:
  scope<memory::broker, void> on = app.with_broker(memory::broker{});
  publisher<memory::publish> to = on.publisher();
  int others = 0;

  void run_both() {
    on.subscribe("other", [this](bytes_view) { ++others; });
    ASSERT_TRUE(start());
    rt.drive(publish_again(to));
    rt.drive(publish_other(to));
    EXPECT_FALSE(rt.run(1000)); // the endless one does not end, but its every job does
    EXPECT_EQ(others, 1);
    ASSERT_TRUE(stop());
  }

 private:
  static task<void> publish_other(publisher<memory::publish> to) {
    auto sent = co_await to.text("x").to("other");
    static_cast<void>(sent);
  }
};

TEST(fairness, a_handler_that_feeds_itself_does_not_starve_the_others) {
  endless rig;
  rig.on.subscribe("endless", [to = rig.to](bytes_view) -> task<void> { co_await publish_again(to); });
  rig.run_both();
}

TEST(fairness, nor_does_a_message_that_is_retried_for_ever) {
  endless rig;
  rig.on.subscribe("endless", [](bytes_view) { return retry(); });
  rig.run_both();
}

TEST(fairness, nor_do_batches) {
  endless rig;
  rig.on.subscribe_batches("endless", 4, [](std::span<const bytes_view>) { return retry(); });
  rig.run_both();
}

} // namespace
} // namespace core_test
