#include "transport/in_process/queue_arguments.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <utility>

namespace millrace::rabbitmq::detail::in_process {
namespace {

using kind = field_value::kind;

std::string_view erlang_type(const field_value& v) noexcept {
  if (v.what == kind::boolean) return "bool";
  if (v.what == kind::text) return "longstr";
  if (v.what == kind::integer) return "long";
  return "double";
}

std::string unacceptable(const field_value& v) { return "{unacceptable_type," + std::string(erlang_type(v)) + "}"; }

std::string tagged(const char* what, std::int64_t n) { return std::string("{") + what + "," + std::to_string(n) + "}"; }

std::string not_negative(const field_value& v) {
  if (v.what != kind::integer) return "\"expected integer, got " + std::string(erlang_type(v)) + "\"";
  return v.integer < 0 ? tagged("value_negative", v.integer) : std::string();
}

std::string milliseconds(const field_value& v, std::optional<duration>& into) {
  if (std::string wrong = not_negative(v); !wrong.empty()) return wrong;
  if (v.integer > std::numeric_limits<std::uint32_t>::max()) return tagged("value_too_big", v.integer);
  into = std::chrono::milliseconds(v.integer);
  return {};
}

std::string number(const field_value& v, std::optional<std::int64_t>& into) {
  std::string wrong = not_negative(v);
  if (wrong.empty()) into = v.integer;
  return wrong;
}

/// The server has a text of its own for these; see `wrong_type`.
constexpr std::string_view no_text = "type";

std::string text(const field_value& v, std::optional<std::string>& into) {
  if (v.what != kind::text) return std::string(no_text);
  into = std::string(v.text);
  return {};
}

std::string read_type(const field_value& v, queue_settings& into) {
  if (v.what != kind::text) return unacceptable(v);
  constexpr std::array<std::string_view, 3> names{"classic", "quorum", "stream"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (v.text != names[i]) continue;
    into.kind = static_cast<queue_kind>(i);
    return {};
  }
  return "\"unsupported queue type '" + std::string(v.text) + "'\"";
}

std::string read_ttl(const field_value& v, queue_settings& into) { return milliseconds(v, into.message_ttl); }

std::string read_expires(const field_value& v, queue_settings& into) {
  if (v.what == kind::integer && v.integer == 0) return tagged("value_zero", 0);
  return milliseconds(v, into.expires);
}

std::string read_dead_letter_exchange(const field_value& v, queue_settings& into) {
  return text(v, into.dead_letter_exchange);
}

std::string read_dead_letter_key(const field_value& v, queue_settings& into) {
  if (!find_field(into.arguments, "x-dead-letter-exchange")) return "routing_key_but_no_dlx_defined";
  return text(v, into.dead_letter_key);
}

std::string read_max_length(const field_value& v, queue_settings& into) { return number(v, into.max_length); }
std::string read_max_bytes(const field_value& v, queue_settings& into) { return number(v, into.max_bytes); }
std::string read_delivery_limit(const field_value& v, queue_settings& into) { return number(v, into.delivery_limit); }

std::string read_max_priority(const field_value& v, queue_settings& into) {
  if (std::string wrong = not_negative(v); !wrong.empty()) return wrong;
  if (v.integer > 255) return tagged("max_value_exceeded", v.integer);
  into.max_priority = static_cast<int>(v.integer);
  return {};
}

std::string read_overflow(const field_value& v, queue_settings& into) {
  constexpr std::array<std::string_view, 3> names{"drop-head", "reject-publish", "reject-publish-dlx"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (v.what != kind::text || v.text != names[i]) continue;
    into.when_full = static_cast<overflow>(i);
    return {};
  }
  return "invalid_overflow";
}

std::string read_single_active(const field_value& v, queue_settings& into) {
  if (v.what != kind::boolean) return unacceptable(v);
  into.single_active = v.integer != 0;
  return {};
}

std::string ignore(const field_value& /*v*/, queue_settings& /*into*/) { return {}; }

constexpr argument_rule rules[] = {
    {"x-expires", "cq", read_expires},
    {"x-message-ttl", "cq", read_ttl},
    {"x-dead-letter-exchange", "cq", read_dead_letter_exchange},
    {"x-dead-letter-routing-key", "cq", read_dead_letter_key},
    {"x-dead-letter-strategy", "q", ignore},
    {"x-max-length", "cq", read_max_length},
    {"x-max-length-bytes", "cqs", read_max_bytes},
    {"x-max-priority", "c", read_max_priority},
    {"x-overflow", "cq", read_overflow},
    {"x-queue-mode", "c", ignore},
    {"x-single-active-consumer", "cq", read_single_active},
    {"x-queue-type", "cqs", read_type},
    {"x-queue-master-locator", "c", ignore},
    {"x-quorum-initial-group-size", "q", ignore},
    {"x-delivery-limit", "q", read_delivery_limit},
    {"x-max-age", "s", ignore},
    {"x-stream-max-segment-size-bytes", "s", ignore},
    {"x-initial-cluster-size", "s", ignore},
};

std::unexpected<refusal> invalid(const queue_settings& of, std::string_view key, const std::string& why) {
  return refuse(406, "invalid arg '" + std::string(key) + "' for " + of.described() + why);
}

std::unexpected<refusal> wrong_type(const queue_settings& of, std::string_view key, const field_value& v) {
  return refuse(406, "invalid type '" + std::string(erlang_type(v)) + "' for arg '" + std::string(key) + "' in " +
                         of.described());
}

/// What a quorum queue or a stream cannot be.
answer<void> check_flags(const queue_settings& of) {
  if (of.kind == queue_kind::classic) return {};
  const char* wrong = nullptr;
  if (!of.durable) wrong = "non-durable";
  if (of.auto_delete) wrong = "auto-delete";
  if (of.exclusive) wrong = "exclusive-owner";
  if (wrong == nullptr) return {};
  return refuse(406, std::string("invalid property '") + wrong + "' for " + of.described());
}

} // namespace

std::span<const argument_rule> argument_rules() noexcept { return rules; }

answer<void> read_arguments(queue_settings& of) {
  static constexpr std::string_view modules[] = {"rabbit_classic_queue", "rabbit_quorum_queue", "rabbit_stream_queue"};
  for (const argument_rule& rule : rules) {
    const auto value = find_field(of.arguments, rule.key);
    if (!value) continue;
    const std::string wrong = rule.read(*value, of);
    if (wrong == no_text) return wrong_type(of, rule.key, *value);
    if (!wrong.empty()) return invalid(of, rule.key, ": " + wrong);
  }
  for (const argument_rule& rule : rules) {
    if (rule.fits(of.kind) || !find_field(of.arguments, rule.key)) continue;
    const std::string_view module = modules[static_cast<std::size_t>(of.kind)];
    return invalid(of, rule.key, " of queue type " + std::string(module));
  }
  return check_flags(of);
}

} // namespace millrace::rabbitmq::detail::in_process
