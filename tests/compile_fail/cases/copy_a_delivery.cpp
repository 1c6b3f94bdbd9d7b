// A delivery is one: a copy could settle a second time.
// expect: delivery
#include <millrace/delivery.hpp>
#include <millrace/memory.hpp>
#include <millrace/millrace.hpp>

using namespace millrace;

void copies(delivery& d) { delivery second = d; }
