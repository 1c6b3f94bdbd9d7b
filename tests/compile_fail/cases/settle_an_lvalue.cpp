// Settling consumes a delivery: without saying so it does not compile, so twice is seen where it is written.
// expect: ack
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

void twice(delivery d) {
  static_cast<void>(d.ack());
  static_cast<void>(d.ack());
}
