#pragma once

#include "support/client.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::amqp::testing {

/// Receives and acknowledges until each of these has come; others may come too.
inline void take_all(waiting_sink& to, std::set<std::string> wanted) {
  while (!wanted.empty()) {
    incoming* const m = to.next();
    ASSERT_NE(m, nullptr) << wanted.size() << " are missing";
    wanted.erase(text_of(m));
    EXPECT_TRUE(settle(m));
  }
}

} // namespace millrace::amqp::testing
