#include "transport/in_process/dead_letter.hpp"

#include "protocol/table.hpp"

#include <string>
#include <vector>

namespace millrace::rabbitmq::detail::in_process {
namespace {

constexpr std::string_view x_death = "x-death";

void text_field(std::string& to, std::string_view name, std::string_view value) {
  writer out(to);
  out.short_string(name);
  out.u8('S');
  out.long_string(value);
}

/// The entries of the array, each a table.
std::vector<std::string_view> deaths_of(const message& m) {
  std::vector<std::string_view> entries;
  const auto array = find_field(m.properties.table(), x_death);
  if (!array || array->tag != 'A') return entries;
  reader in(array->text);
  while (!in.rest().empty()) {
    field_value entry;
    if (!read_value(in, entry)) break;
    if (entry.tag == 'F') entries.push_back(entry.text);
  }
  return entries;
}

bool has_text(std::string_view table, std::string_view name, std::string_view value) noexcept {
  const auto found = find_field(table, name);
  return found && found->text == value;
}

std::string death_entry(const queue_settings& from, const message& m, std::string_view reason, std::int64_t count,
                        std::int64_t unix_seconds) {
  std::string table;
  writer out(table);
  out.short_string("count");
  out.u8('l');
  out.u64(static_cast<std::uint64_t>(count));
  text_field(table, "reason", reason);
  text_field(table, "queue", from.name);
  out.short_string("time");
  out.u8('T');
  out.u64(static_cast<std::uint64_t>(unix_seconds));
  text_field(table, "exchange", m.exchange);
  out.short_string("routing-keys");
  out.u8('A');
  const std::size_t keys = out.begin_length();
  out.u8('S');
  out.long_string(m.routing_key);
  out.end_length(keys);
  if (m.properties.has(property::expiration))
    text_field(table, "original-expiration", m.properties.text(property::expiration));
  return table;
}

void append_entry(writer& out, std::string_view entry) {
  out.u8('F');
  out.long_string(entry);
}

/// All entries, the one of this death in front.
std::string death_array(const queue_settings& from, const message& m, std::string_view reason,
                        std::int64_t unix_seconds) {
  std::string others;
  writer rest(others);
  std::int64_t count = 1;
  for (const std::string_view entry : deaths_of(m)) {
    if (has_text(entry, "queue", from.name) && has_text(entry, "reason", reason)) {
      const auto before = find_field(entry, "count");
      count += before ? before->integer : 0;
    } else {
      append_entry(rest, entry);
    }
  }
  std::string array;
  writer out(array);
  append_entry(out, death_entry(from, m, reason, count, unix_seconds));
  return array + others;
}

} // namespace

message make_dead_letter(const queue_settings& from, const queued& m, std::string_view reason,
                         std::int64_t unix_seconds) {
  message letter = *m.what;
  std::string table = without_field(letter.properties.table(), x_death);
  if (!find_field(table, "x-first-death-reason")) {
    text_field(table, "x-first-death-exchange", letter.exchange);
    text_field(table, "x-first-death-queue", from.name);
    text_field(table, "x-first-death-reason", reason);
  }
  writer out(table);
  out.short_string(x_death);
  out.u8('A');
  out.long_string(death_array(from, letter, reason, unix_seconds));
  letter.properties.set_table(table);
  letter.properties.clear(property::expiration);
  letter.expiration.reset();
  letter.mandatory = false;
  letter.exchange = from.dead_letter_exchange.value_or("");
  if (from.dead_letter_key) letter.routing_key = *from.dead_letter_key;
  return letter;
}

bool goes_in_circles(const message& m, std::string_view queue) noexcept {
  for (const std::string_view entry : deaths_of(m)) {
    if (has_text(entry, "reason", "rejected")) return false;
    if (has_text(entry, "queue", queue)) return true;
  }
  return false;
}

} // namespace millrace::rabbitmq::detail::in_process
