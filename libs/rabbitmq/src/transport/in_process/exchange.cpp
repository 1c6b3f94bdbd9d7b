#include "transport/in_process/exchange.hpp"

#include "protocol/table.hpp"
#include "transport/in_process/binding_match.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace millrace::rabbitmq::detail::in_process {
namespace {

constexpr std::string_view hashing = "x-consistent-hash";

void add_once(std::vector<queue*>& to, queue* q) {
  if (std::ranges::find(to, q) == to.end()) to.push_back(q);
}

/// FNV-1a. Which queue of a hash exchange gets a key is not the server's choice; that it stays the same one is.
std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : text)
    h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

std::uint64_t weight(std::string_view key) noexcept {
  std::uint64_t n = 0;
  const auto read = std::from_chars(key.data(), key.data() + key.size(), n);
  return read.ec == std::errc() && read.ptr == key.data() + key.size() ? n : 0;
}

std::string erlang_binary(std::string_view text) { return "<<\"" + std::string(text) + "\">>"; }

answer<void> check_weight(std::string_view key) {
  if (weight(key) > 0) return {};
  if (key.find_first_not_of('0') == std::string_view::npos && !key.empty())
    return refuse(406, "The binding key must be greater than 0");
  return refuse(406, "The binding key must be an integer: " + erlang_binary(key));
}

answer<void> check_mode(std::string_view arguments) {
  const auto mode = find_field(arguments, "x-match");
  if (!mode) return {};
  constexpr std::array<std::string_view, 4> known{"all", "any", "all-with-x", "any-with-x"};
  if (std::ranges::find(known, mode->text) != known.end()) return {};
  return refuse(406, "Invalid x-match field value " + erlang_binary(mode->text) +
                         "; expected all, any, all-with-x, or any-with-x");
}

answer<void> check_binding(std::string_view type, std::string_view key, std::string_view arguments) {
  if (type == hashing) return check_weight(key);
  if (type == "headers") return check_mode(arguments);
  return {};
}

} // namespace

bool is_exchange_type(std::string_view type) noexcept {
  constexpr std::array<std::string_view, 6> known{"direct", "topic", "fanout", "headers", hashing, "x-delayed-message"};
  return std::ranges::find(known, type) != known.end();
}

std::string_view exchange::routing_type() const noexcept {
  if (!delays()) return settings_.type;
  const auto inside = find_field(settings_.arguments, "x-delayed-type");
  return inside ? inside->text : std::string_view("direct");
}

answer<void> exchange::bind(queue& to, std::string key, std::string arguments) {
  if (auto fits = check_binding(routing_type(), key, arguments); !fits) return fits;
  for (const binding& b : bindings_) {
    if (b.to == &to && b.key == key && b.arguments == arguments) return {};
  }
  bindings_.push_back({&to, std::move(key), std::move(arguments)});
  return {};
}

bool exchange::unbind_all(const queue& from) noexcept {
  const std::size_t gone = std::erase_if(bindings_, [&](const binding& b) { return b.to == &from; });
  return gone == 0 || !bindings_.empty();
}

bool exchange::takes(const binding& b, const message& m) const noexcept {
  const std::string_view type = routing_type();
  if (type == "fanout") return true;
  if (type == "topic") return topic_matches(b.key, m.routing_key);
  if (type == "headers") return headers_match(b.arguments, m.properties.table());
  return b.key == m.routing_key;
}

void exchange::route(const message& m, std::vector<queue*>& to) const {
  if (routing_type() == hashing) return route_by_hash(m, to);
  for (const binding& b : bindings_) {
    if (takes(b, m)) add_once(to, b.to);
  }
}

/// One of the bound queues, in the proportion of their weights.
void exchange::route_by_hash(const message& m, std::vector<queue*>& to) const {
  std::uint64_t total = 0;
  for (const binding& b : bindings_)
    total += weight(b.key);
  if (total == 0) return;
  std::string_view hashed = m.routing_key;
  if (const auto header = find_field(settings_.arguments, "hash-header")) {
    const auto value = find_field(m.properties.table(), header->text);
    hashed = value ? value->text : std::string_view();
  }
  std::uint64_t at = hash(hashed) % total;
  for (const binding& b : bindings_) {
    if (at < weight(b.key)) return add_once(to, b.to);
    at -= weight(b.key);
  }
}

} // namespace millrace::rabbitmq::detail::in_process
