#pragma once

#include "support/connected_client.hpp"
#include "support/server_tool.hpp"
#include "support/waiting_sink.hpp"

#include <millrace/amqp.hpp>

namespace millrace::amqp::testing {

using namespace std::chrono_literals;
using test_support::fresh_name;
using test_support::sent_message;
using test_support::settle;
using test_support::taken_text;
using test_support::text_of;
using test_support::waiting_sink;

class client : public test_support::connected_client<connected_broker> {
 public:
  using connected_client::connected_client;
  template <class Source> open_result open(const Source& source, sink& to) {
    return sync_wait((**this).open(source, to, open_options()));
  }
};

} // namespace millrace::amqp::testing
