#pragma once

#include "support/sent_message.hpp"

#include <millrace/pool_runtime.hpp>

#include <memory>
#include <string>
#include <utility>

namespace millrace::test_support {

/// A connected broker with a runtime of its own, as a test without a service uses it.
template <class Connected> class connected_client {
 public:
  template <class Broker> explicit connected_client(Broker b) : connected_(sync_wait(std::move(b).connect(rt))) {}
  connected_client(const connected_client&) = delete;
  connected_client& operator=(const connected_client&) = delete;
  ~connected_client() {
    if (connected_) (void)shutdown();
  }

  [[nodiscard]] bool connected() const noexcept { return connected_.has_value(); }
  [[nodiscard]] const error& failure() const { return connected_.error(); }
  [[nodiscard]] Connected& operator*() { return *connected_; }

  template <class Policy> std::shared_ptr<publish_port> pair(const Policy& policy) { return *connected_->pair(policy); }
  result<receipt> send(publish_port& to, const std::string& destination, const std::string& text,
                       const header_map* headers = nullptr, const void* options = nullptr) {
    return sent_message(to, rt, outgoing{destination, as_bytes(text), headers, options}).answer();
  }
  auto shutdown() {
    Connected closing = std::move(*connected_);
    connected_ = fail(errc::closed, "the test shut it down");
    return sync_wait(std::move(closing).shutdown());
  }

  pool_runtime rt{2};

 private:
  result<Connected> connected_;
};

} // namespace millrace::test_support
