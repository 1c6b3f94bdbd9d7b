#pragma once

#include "../shared/meter.hpp"
#include "../shared/run_side.hpp"

#include <millrace/millrace.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

constexpr const char* core_subject = "bench.core";
constexpr const char* stream = "BENCH";
constexpr const char* stream_subject = "bench.stream";
constexpr int pull_batch = 1000;
constexpr int ack_pending = 4096;
constexpr int pending_messages = 65'536;

/// The durable consumer of this run; each run reads the whole stream.
[[nodiscard]] std::string consumer_name();

/// Messages that one credit lets the feeder send. It starts with a few credits, so that a consumer never holds as many
/// messages as would make it a slow one, and never waits for the feeder.
constexpr std::size_t credit_messages = 8192;
constexpr int first_credits = 4;

struct order {
  std::uint64_t id = 0;
  std::string customer;
  std::string item;
  int quantity = 0;
  double price = 0;
  std::string note;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, customer, item, quantity, price, note))

constexpr std::string_view sixteen_bytes = "0123456789abcdef";
/// An order of 512 bytes.
[[nodiscard]] std::string order_document();

/// Lets the feeder go on as messages come; its credits go to standard output.
class fed_meter : public meter {
 public:
  using meter::meter;
  /// The subscription is there: the feeder may begin.
  static void ready();
  void message(std::uint64_t value) noexcept {
    meter::message(value);
    if (seen() % credit_messages == 0) [[unlikely]]
      credit(1);
  }

 private:
  static void credit(int n) noexcept;
};

// The two sides, and what feeds them. Each answers an exit code.
namespace bare {
int consume(const run_options& options, bool json);
int publish(const run_options& options);
int pull(const run_options& options);
} // namespace bare
namespace framework {
int consume(const run_options& options, bool json);
int publish(const run_options& options);
int pull(const run_options& options);
int lifecycle(const run_options& options);
} // namespace framework
int feed(const run_options& options, bool json);
int fill_stream(const run_options& options);

} // namespace bench
