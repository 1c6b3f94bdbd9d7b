#include "transport/in_process/js_api.hpp"

#include "protocol/subject.hpp"
#include "transport/in_process/consumer_request.hpp"
#include "transport/in_process/info_json.hpp"
#include "transport/in_process/patterns.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millrace::nats::detail::in_process {
namespace {

namespace json = boost::json;

const api_error stream_not_found{404, 10059, "stream not found"};

/// Takes `word` and the dot after it from the front.
bool take(std::string_view& subject, std::string_view word) noexcept {
  if (!subject.starts_with(word)) return false;
  subject.remove_prefix(word.size());
  return true;
}

std::string_view take_token(std::string_view& rest) noexcept {
  const std::size_t at = rest.find('.');
  const std::string_view token = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return token;
}

} // namespace

bool js_api::handle(const message& m, std::string_view reply) {
  std::string_view rest = std::string_view(m.subject).substr(prefix.size());
  const auto two_tokens = [&rest](auto&& then) {
    const std::string_view stream_name = take_token(rest);
    const std::string_view name = take_token(rest);
    if (!name.empty() && rest.empty()) then(stream_name, name);
    return !name.empty(); // too many tokens: the server does not answer
  };
  if (take(rest, "CONSUMER.MSG.NEXT.")) return two_tokens([&](auto s, auto c) { pull(s, c, m, reply); });
  if (take(rest, "CONSUMER.DURABLE.CREATE.")) return two_tokens([&](auto s, auto c) { create(s, c, true, m, reply); });
  if (take(rest, "CONSUMER.INFO.")) return two_tokens([&](auto s, auto c) { consumer_info(s, c, reply); });
  if (take(rest, "CONSUMER.DELETE.")) return two_tokens([&](auto s, auto c) { remove(s, c, reply); });
  if (take(rest, "CONSUMER.CREATE.")) {
    const std::string_view stream_name = take_token(rest);
    create(stream_name, rest, false, m, reply);
    return true;
  }
  if (!take(rest, "STREAM.INFO.")) return false;
  const std::string_view stream_name = take_token(rest);
  if (rest.empty()) stream_info(stream_name, m, reply);
  return true;
}

void js_api::answer(std::string_view reply, std::string_view type, const json::object& body) {
  if (reply.empty()) return;
  json::object whole;
  whole["type"] = "io.nats.jetstream.api.v1." + std::string(type);
  for (const auto& [name, value] : body)
    whole[name] = value;
  js_->host_->send(reply, {make_message(reply, json::serialize(whole)), {}});
}

void js_api::answer(std::string_view reply, std::string_view type, const api_error& error) {
  json::object described{{"code", error.code}, {"description", error.description}};
  if (error.err_code != 0) described["err_code"] = error.err_code;
  answer(reply, type, json::object{{"error", std::move(described)}});
}

void js_api::stream_info(std::string_view stream_name, const message& m, std::string_view reply) {
  constexpr std::string_view type = "stream_info_response";
  json::error_code failed;
  if (!m.payload.empty()) json::parse(m.payload, failed);
  if (failed) return answer(reply, type, invalid_json);
  if (stream* s = js_->find(stream_name)) return answer(reply, type, info_of(*s));
  answer(reply, type, stream_not_found);
}

/// `name` may go on with `.<filter>`.
void js_api::create(std::string_view stream_name, std::string_view name, bool durable, const message& m,
                    std::string_view reply) {
  constexpr std::string_view type = "consumer_create_response";
  std::string_view filter = name;
  const std::string_view token = take_token(filter);
  const auto made = make(stream_name, token, durable, filter, m.payload);
  if (made)
    answer(reply, type, info_of(stream_name, **made));
  else
    answer(reply, type, made.error());
}

std::expected<consumer*, api_error> js_api::make(std::string_view stream_name, std::string_view name, bool durable,
                                                 std::string_view filter, std::string_view payload) {
  auto config = parse_create_request({stream_name, name, filter, durable}, payload);
  if (!config) return std::unexpected(std::move(config).error());
  stream* s = js_->find(stream_name);
  if (s == nullptr) return std::unexpected(stream_not_found);
  set_defaults(*config);
  if (auto refused = check_config(*config)) return std::unexpected(*std::move(refused));
  if (name.empty()) name = config->name;
  return admit(*s, name, *std::move(config));
}

std::expected<consumer*, api_error> js_api::admit(stream& s, std::string_view name, consumer_config config) {
  const std::string& filter = config.filter_subject;
  const bool bad = !filter.empty() && check_pattern(filter) != subject_fault::none;
  if (bad || (!filter.empty() && js_->served_elsewhere(filter, s))) return std::unexpected(filter_outside);
  consumer* held = name.empty() ? nullptr : s.find(name);
  if (held != nullptr)
    if (auto refused = check_update(held->config(), config)) return std::unexpected(*std::move(refused));
  if (!filter.empty()) s.serve_filter(filter);
  if (held == nullptr) return &s.add(name.empty() ? js_->fresh_name() : std::string(name), std::move(config));
  held->update(std::move(config));
  return held;
}

void js_api::consumer_info(std::string_view stream_name, std::string_view name, std::string_view reply) {
  constexpr std::string_view type = "consumer_info_response";
  const stream* s = js_->find(stream_name);
  if (s == nullptr) return answer(reply, type, stream_not_found);
  if (const consumer* c = s->find(name)) return answer(reply, type, info_of(stream_name, *c));
  answer(reply, type, consumer_not_found);
}

void js_api::remove(std::string_view stream_name, std::string_view name, std::string_view reply) {
  constexpr std::string_view type = "consumer_delete_response";
  stream* s = js_->find(stream_name);
  if (s == nullptr) return answer(reply, type, stream_not_found);
  if (s->remove(name)) return answer(reply, type, json::object{{"success", true}});
  answer(reply, type, consumer_not_found);
}

/// For an unknown consumer a server of 2.9 stays silent.
void js_api::pull(std::string_view stream_name, std::string_view name, const message& m, std::string_view reply) {
  const stream* s = js_->find(stream_name);
  consumer* c = s == nullptr ? nullptr : s->find(name);
  if (c != nullptr) c->pull(reply, m.payload);
}

} // namespace millrace::nats::detail::in_process
