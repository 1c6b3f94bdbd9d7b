#pragma once

#include "support/client.hpp"
#include "support/gate.hpp"
#include "support/live_server.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace millrace::amqp::testing {

/// Publishes, consumes and shuts down over a connection that is cut once, after a number of bytes that grows from run
/// to run until nothing is left to be cut: every message that the server accepted is delivered, whatever was cut.
class cut_everywhere {
 public:
  using address_of = std::function<std::string(const std::string& name)>;
  cut_everywhere(std::string url, address_of address) : url_(std::move(url)), address_(std::move(address)) {}

  void run(int cuts) {
    const std::int64_t all = pass(0);
    for (int i = 0; i < cuts && !::testing::Test::HasFailure(); ++i)
      (void)pass(1 + all * i / cuts);
  }

 private:
  static constexpr int messages = 6;

  /// Answers how many bytes passed.
  std::int64_t pass(std::int64_t cut_after) {
    SCOPED_TRACE("cut after " + std::to_string(cut_after));
    gate between(port_of(url_));
    if (cut_after > 0) between.cut_after(cut_after);
    const std::string address = address_(fresh_name("cut"));
    waiting_sink to;
    std::optional<client> c;
    connect(c, at_port(url_, between.port()));
    const open_result subscribed = open(*c, address, to);
    std::set<std::string> accepted = publish_all(*c, address);
    while (!accepted.empty()) {
      incoming* const m = to.next(5s);
      if (m == nullptr) break;
      if (settle(m)) accepted.erase(last_text_);
    }
    EXPECT_TRUE(accepted.empty()) << accepted.size() << " were accepted and did not come";
    (void)c->shutdown(); // cut, it is an error
    return between.passed();
  }
  void connect(std::optional<client>& c, const std::string& url) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      c.emplace(broker(url).backoff(2ms, 20ms).close_timeout(2s));
      if (c->connected()) return;
      EXPECT_EQ(c->failure(), millrace::errc::connect) << c->failure().message();
    }
    FAIL() << "no connection";
  }
  open_result open(client& c, const std::string& address, sink& to) {
    open_result opened = c.open(raw(address), to);
    for (int attempt = 0; attempt < 3 && !opened; ++attempt) {
      (void)c.send(*c.pair(publish()), address_(fresh_name("other")), "x"); // which waits for the connection
      opened = c.open(raw(address), to);
    }
    EXPECT_TRUE(opened) << opened.error().message();
    return opened;
  }
  /// Publishes until each was accepted once.
  std::set<std::string> publish_all(client& c, const std::string& address) {
    std::set<std::string> accepted;
    const auto port = c.pair(publish());
    for (int i = 0; i < messages; ++i) {
      const std::string text = std::to_string(i);
      for (int attempt = 0; attempt < 3 && !accepted.contains(text); ++attempt)
        if (c.send(*port, address, text)) accepted.insert(text);
    }
    EXPECT_EQ(accepted.size(), static_cast<std::size_t>(messages));
    return accepted;
  }
  bool settle(incoming* m) {
    last_text_ = text_of(m);
    return testing::settle(m);
  }
  std::string url_;
  address_of address_;
  std::string last_text_;
};

} // namespace millrace::amqp::testing
