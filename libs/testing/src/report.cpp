#include "report.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace millrace::testing {
namespace {

constexpr std::size_t longest_payload = 200;
constexpr std::size_t most_lines = 20;

std::string escaped(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

std::string show_headers(const header_map& headers) {
  if (headers.empty()) return {};
  std::string text = "  [";
  for (const auto& [name, value] : headers) {
    if (text.back() != '[') text += ", ";
    text += std::string(name) + ": " + show_payload(value);
  }
  return text + "]";
}

std::string line(const recorded_delivery& d) {
  std::string text = show_ending(d) + "  attempt " + std::to_string(d.attempt) + "  " + show_payload(d.payload);
  text += show_headers(d.headers);
  if (!d.failure_text.empty()) text += "  (" + d.failure_text + ")";
  return text;
}

std::string line(const recorded_publish& p) { return show_payload(p.payload) + show_headers(p.headers); }

template <class T> std::string numbered(std::span<const T> all) {
  std::string text;
  const std::size_t skipped = all.size() > most_lines ? all.size() - most_lines : 0;
  if (skipped > 0) text += "\n  … " + std::to_string(skipped) + " earlier";
  for (std::size_t i = skipped; i < all.size(); ++i)
    text += "\n  " + std::to_string(i + 1) + ". " + line(all[i]);
  return text;
}

} // namespace

std::string show_payload(std::string_view payload) {
  std::string text;
  for (const char c : payload.substr(0, longest_payload)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      text += escaped(c);
    else
      text += c;
  }
  if (payload.size() > longest_payload) text += "… (" + std::to_string(payload.size()) + " bytes)";
  return text.empty() ? "(empty)" : text;
}

std::string show_duration(duration d) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> units{
      {{3'600'000'000'000, "h"}, {1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  for (const auto& [size, name] : units) {
    if (d.count() != 0 && d.count() % size == 0) return std::to_string(d.count() / size) + name;
  }
  return std::to_string(d.count()) + (d.count() == 0 ? "s" : "ns");
}

std::string show_settlement(settlement how) {
  switch (how.kind) {
  case settlement_kind::ack:
    return "ack";
  case settlement_kind::retry:
    return "retry";
  case settlement_kind::retry_after:
    return "retry after " + show_duration(how.delay);
  case settlement_kind::drop:
    return "drop";
  }
  return "?";
}

std::string show_count(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

std::string show_ending(const recorded_delivery& d) {
  const std::string settled = d.settled ? show_settlement(*d.settled) : "unsettled";
  if (d.failed == handled_event::failure::none || d.kind() == outcome_kind::unsettled) return settled;
  return std::string(to_string(d.kind())) + ", " + settled;
}

std::string list(std::span<const recorded_delivery> deliveries) { return numbered(deliveries); }
std::string list(std::span<const recorded_publish> publishes) { return numbered(publishes); }

} // namespace millrace::testing
