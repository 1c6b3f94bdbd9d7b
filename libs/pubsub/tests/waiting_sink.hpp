#pragma once

#include "support/waiting_sink.hpp"

namespace millrace::pubsub::test {

using test_support::settle;
using test_support::waiting_sink;

inline bool ack(incoming* m) { return settle(m); }

} // namespace millrace::pubsub::test
