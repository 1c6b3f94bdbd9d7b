// A broker that is not connected has nothing to publish with.
// expect: pair
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

auto early(memory::broker& b) { return b.pair(memory::publish{}); }
