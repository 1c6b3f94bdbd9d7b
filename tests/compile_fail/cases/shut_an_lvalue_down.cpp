// expect: shutdown
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

task<> leave(memory::connected_broker& b) { auto closed = co_await b.shutdown(); }
