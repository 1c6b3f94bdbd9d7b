#include "protocol/table.hpp"

#include <cstdlib>

namespace {

namespace wire = millrace::rabbitmq::detail;

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

} // namespace

/// A field table of the peer: names and texts are views into it, and what is found by name is its first field.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view table(reinterpret_cast<const char*>(data), size);
  std::size_t fields = 0;
  const bool whole = wire::for_each_field(table, [&](std::string_view name, const wire::field_value& value) {
    if (!inside(name, table) || !inside(value.text, table)) std::abort();
    if (++fields == 1 && !wire::find_field(table, name)) std::abort();
    return true;
  });
  if (fields > size / 2) std::abort(); // a length and a tag at least
  (void)whole;
  return 0;
}
