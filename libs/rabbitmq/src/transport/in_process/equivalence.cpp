#include "protocol/table.hpp"
#include "transport/in_process/queue_arguments.hpp"
#include "transport/in_process/queue_settings.hpp"

namespace millrace::rabbitmq::detail::in_process {
namespace {

std::string_view type_name(char tag) noexcept {
  switch (tag) {
  case 't':
    return "bool";
  case 'b':
    return "byte";
  case 'B':
    return "unsignedbyte";
  case 's':
    return "short";
  case 'u':
    return "unsignedshort";
  case 'I':
    return "signedint";
  case 'i':
    return "unsignedint";
  case 'l':
  case 'L':
    return "long";
  case 'd':
    return "double";
  case 'f':
    return "float";
  default:
    return "longstr";
  }
}

std::string value_text(const field_value& v) {
  switch (v.what) {
  case field_value::kind::integer:
    return std::to_string(v.integer);
  case field_value::kind::boolean:
    return v.integer != 0 ? "true" : "false";
  case field_value::kind::real:
    return std::to_string(v.real);
  default:
    return std::string(v.text);
  }
}

bool same_value(const field_value& a, const field_value& b) {
  return a.what == b.what && a.integer == b.integer && a.real == b.real && a.text == b.text;
}

std::string whole(const std::optional<field_value>& v) {
  if (!v) return "none";
  return "the value '" + value_text(*v) + "' of type '" + std::string(type_name(v->tag)) + "'";
}

std::unexpected<refusal> differs(std::string_view key, const std::string& what, const std::string& declared,
                                 const std::string& current) {
  return refuse(406, "inequivalent arg '" + std::string(key) + "' for " + what + ": received " + declared +
                         " but current is " + current);
}

queue_kind kind_of(const queue_settings& declared) {
  const auto type = find_field(declared.arguments, "x-queue-type");
  if (type && type->text == "quorum") return queue_kind::quorum;
  return type && type->text == "stream" ? queue_kind::stream : queue_kind::classic;
}

std::string quoted(std::string_view text) { return std::string("'").append(text).append("'"); }

} // namespace

answer<void> check_same_argument(std::string_view current, std::string_view declared, std::string_view key,
                                 const std::string& what) {
  const auto has = find_field(current, key);
  const auto wants = find_field(declared, key);
  if (has && wants) {
    if (same_value(*has, *wants)) return {};
    return differs(key, what, quoted(value_text(*wants)), quoted(value_text(*has)));
  }
  if (!has && !wants) return {};
  return differs(key, what, whole(wants), whole(has));
}

answer<void> check_same(std::string_view property, std::string_view current, std::string_view declared,
                        const std::string& what) {
  if (current == declared) return {};
  return differs(property, what, quoted(declared), quoted(current));
}

answer<void> check_same(std::string_view property, bool current, bool declared, const std::string& what) {
  const auto text = [](bool on) { return on ? std::string_view("true") : std::string_view("false"); };
  return check_same(property, text(current), text(declared), what);
}

answer<void> check_equivalent(const queue_settings& current, const queue_settings& declared) {
  const std::string what = current.described();
  if (auto same = check_same("durable", current.durable, declared.durable, what); !same) return same;
  if (auto same = check_same("auto_delete", current.auto_delete, declared.auto_delete, what); !same) return same;
  const queue_kind kind = kind_of(declared);
  for (const argument_rule& rule : argument_rules()) {
    if (!rule.fits(current.kind)) continue;
    if (rule.key == "x-queue-type" && kind == current.kind) continue; // without the argument it is a classic queue
    if (auto same = check_same_argument(current.arguments, declared.arguments, rule.key, what); !same) return same;
  }
  return {};
}

} // namespace millrace::rabbitmq::detail::in_process
