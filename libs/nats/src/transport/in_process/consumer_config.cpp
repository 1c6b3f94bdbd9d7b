#include "transport/in_process/consumer_config.hpp"

#include "transport/in_process/time_text.hpp"

#include <boost/json.hpp>

#include <array>
#include <string_view>

namespace millrace::nats::detail::in_process {
namespace {

namespace json = boost::json;

struct policy_names {
  std::string_view wire;
  std::string_view words;
};
constexpr std::array<policy_names, 6> deliver_names{{{"all", "deliver all"},
                                                     {"last", "deliver last"},
                                                     {"new", "deliver new"},
                                                     {"by_start_sequence", "deliver by start sequence"},
                                                     {"by_start_time", "deliver by start time"},
                                                     {"last_per_subject", "deliver last per subject"}}};
constexpr std::array<std::string_view, 3> ack_names{"none", "all", "explicit"};

/// Reads members of one object; `ok` turns false at the first that has another type.
struct member_reader {
  const json::object& from;
  bool ok = true;

  void read(std::string_view name, std::string& into) {
    const json::value* v = from.if_contains(name);
    if (v == nullptr || v->is_null()) return;
    if (const json::string* text = v->if_string())
      into.assign(text->data(), text->size());
    else
      ok = false;
  }
  template <class Number> void read(std::string_view name, Number& into) {
    const json::value* v = from.if_contains(name);
    if (v == nullptr || v->is_null()) return;
    json::error_code failed;
    into = v->to_number<Number>(failed);
    ok = ok && !failed;
  }
  template <class Names, class Enum> void read(std::string_view name, const Names& names, Enum& into) {
    std::string text;
    read(name, text);
    if (text.empty()) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (text != names[i]) continue;
      into = static_cast<Enum>(i);
      return;
    }
    ok = false;
  }
  void read(std::string_view name, std::vector<std::int64_t>& into) {
    const json::value* v = from.if_contains(name);
    if (v == nullptr || v->is_null()) return;
    const json::array* list = v->if_array();
    ok = ok && list != nullptr;
    if (list == nullptr) return;
    for (const json::value& each : *list) {
      json::error_code failed;
      into.push_back(each.to_number<std::int64_t>(failed));
      ok = ok && !failed;
    }
  }
};

constexpr std::array<std::string_view, 6> deliver_wire_names() {
  std::array<std::string_view, 6> names{};
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = deliver_names[i].wire;
  return names;
}

/// Members that change what a consumer does and that this server does not know.
std::optional<api_error> find_unmodelled(const json::object& from) {
  for (const std::string_view name : {"deliver_subject", "deliver_group", "flow_control", "headers_only",
                                      "rate_limit_bps", "max_batch", "max_expires", "max_bytes", "sample_freq"}) {
    const json::value* v = from.if_contains(name);
    if (v == nullptr || v->is_null() || *v == json::value(false) || *v == json::value(0) || *v == json::value(""))
      continue;
    return api_error{501, 0, "the in-process server does not model '" + std::string(name) + "'"};
  }
  return std::nullopt;
}

api_error wrong_policy(const consumer_config& c, std::string_view what) {
  const auto& words = deliver_names[static_cast<std::size_t>(c.deliver)].words;
  return {400, 10094, std::string("consumer delivery policy is ").append(words).append(", but optional ").append(what)};
}

std::optional<api_error> check_start(const consumer_config& c) {
  if (c.deliver == deliver_policy::by_start_sequence) {
    if (c.start_sequence == 0) return wrong_policy(c, "start sequence is not set");
    if (c.start_time) return wrong_policy(c, "start time is also set");
    return std::nullopt;
  }
  if (c.deliver == deliver_policy::by_start_time) {
    if (!c.start_time) return wrong_policy(c, "start time is not set");
    if (c.start_sequence != 0) return wrong_policy(c, "start start sequence is also set"); // sic
    return std::nullopt;
  }
  if (c.start_sequence != 0) return wrong_policy(c, "start sequence is also set");
  if (c.start_time) return wrong_policy(c, "start time is also set");
  if (c.deliver == deliver_policy::last_per_subject && c.filter_subject.empty())
    return wrong_policy(c, "filter subject is not set");
  return std::nullopt;
}

} // namespace

std::expected<consumer_config, api_error> parse_consumer_config(const json::value& config) {
  const json::object* object = config.if_object();
  if (object == nullptr) return std::unexpected(invalid_json);
  if (auto unknown = find_unmodelled(*object)) return std::unexpected(*std::move(unknown));
  consumer_config c;
  member_reader in{*object};
  std::string start_time;
  in.read("durable_name", c.durable_name);
  in.read("name", c.name);
  in.read("filter_subject", c.filter_subject);
  in.read("deliver_policy", deliver_wire_names(), c.deliver);
  in.read("ack_policy", ack_names, c.ack);
  in.read("opt_start_seq", c.start_sequence);
  in.read("opt_start_time", start_time);
  in.read("ack_wait", c.ack_wait);
  in.read("max_deliver", c.max_deliver);
  in.read("max_waiting", c.max_waiting);
  in.read("max_ack_pending", c.max_ack_pending);
  in.read("inactive_threshold", c.inactive_threshold);
  in.read("backoff", c.backoff);
  if (!start_time.empty()) {
    c.start_time = parse_time(start_time);
    in.ok = in.ok && c.start_time.has_value();
  }
  if (!in.ok) return std::unexpected(invalid_json);
  return c;
}

void set_defaults(consumer_config& c) {
  if (!c.backoff.empty()) c.ack_wait = c.backoff.front();
  if (c.ack_wait == 0 && c.ack != ack_policy::none) c.ack_wait = 30'000'000'000;
  if (c.max_deliver == 0) c.max_deliver = -1;
  if (c.max_waiting == 0) c.max_waiting = 512;
  if (c.max_ack_pending == 0 && c.ack != ack_policy::none) c.max_ack_pending = 1000;
  if (c.inactive_threshold == 0 && c.durable_name.empty()) c.inactive_threshold = 5'000'000'000;
}

std::optional<api_error> check_config(const consumer_config& c) {
  if (c.max_waiting < 0) return api_error{400, 10087, "consumer max waiting needs to be positive"};
  const bool too_many = c.max_deliver != -1 && static_cast<std::int64_t>(c.backoff.size()) > c.max_deliver;
  if (!c.backoff.empty() && too_many)
    return api_error{400, 10116, "max deliver is required to be > length of backoff values"};
  return check_start(c);
}

std::optional<api_error> check_update(const consumer_config& held, const consumer_config& wanted) {
  const auto fixed = [](std::string_view what) {
    return api_error{500, 10012, std::string(what).append(" can not be updated")};
  };
  if (held.deliver != wanted.deliver) return fixed("deliver policy");
  if (held.start_sequence != wanted.start_sequence) return fixed("start sequence");
  if (held.start_time != wanted.start_time) return fixed("start time");
  if (held.ack != wanted.ack) return fixed("ack policy");
  if (held.max_waiting != wanted.max_waiting) return fixed("max waiting");
  return std::nullopt;
}

json::object to_json(const consumer_config& c) {
  json::object out;
  if (!c.durable_name.empty()) out["durable_name"] = c.durable_name;
  if (!c.name.empty()) out["name"] = c.name;
  out["deliver_policy"] = deliver_names[static_cast<std::size_t>(c.deliver)].wire;
  if (c.start_sequence != 0) out["opt_start_seq"] = c.start_sequence;
  if (c.start_time) out["opt_start_time"] = format_time(*c.start_time);
  out["ack_policy"] = ack_names[static_cast<std::size_t>(c.ack)];
  if (c.ack_wait != 0) out["ack_wait"] = c.ack_wait;
  out["max_deliver"] = c.max_deliver;
  if (!c.backoff.empty()) out["backoff"] = json::array(c.backoff.begin(), c.backoff.end());
  if (!c.filter_subject.empty()) out["filter_subject"] = c.filter_subject;
  out["replay_policy"] = "instant";
  out["max_waiting"] = c.max_waiting;
  if (c.max_ack_pending != 0) out["max_ack_pending"] = c.max_ack_pending;
  if (c.inactive_threshold != 0) out["inactive_threshold"] = c.inactive_threshold;
  out["num_replicas"] = 0;
  return out;
}

} // namespace millrace::nats::detail::in_process
