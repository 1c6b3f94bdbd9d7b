// Each step of the ladder consumes its object.
// expect: connect
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

task<> climb(memory::broker& b, runtime& rt) { auto connected = co_await b.connect(rt); }
