#pragma once

#include "protocol/wire.hpp"

#include <millrace/rabbitmq/arguments.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail {

/// One value of a peer's table. Views into the input.
struct field_value {
  enum class kind : std::uint8_t { text, integer, boolean, real, other };
  kind what = kind::other;
  std::string_view text;    ///< long and short strings and byte arrays; the bytes of nested tables
  std::int64_t integer = 0; ///< every width, signed or not; booleans as 0 and 1
  double real = 0;
  char tag = 0;
};

/// Reads one value after its name. False: malformed, or nested deeper than 32.
[[nodiscard]] bool read_value(reader& in, field_value& value, int depth = 0) noexcept;

/// Calls `each(name, value)` for the fields of a table until it answers false. False: the table is malformed (after
/// what was readable).
template <class Each> bool for_each_field(std::string_view table, Each each) {
  reader in(table);
  while (!in.rest().empty()) {
    const std::string_view name = in.short_string();
    field_value value;
    if (!in.ok() || !read_value(in, value)) return false;
    if (!each(name, value)) return true;
  }
  return true;
}

/// The first field of that name.
[[nodiscard]] std::optional<field_value> find_field(std::string_view table, std::string_view name) noexcept;

/// A table with its length.
void append_table(writer& out, const arguments& table);

} // namespace millrace::rabbitmq::detail
