#include "protocol/js_api.hpp"

#include <millrace/codec/json.hpp>
#include <millrace/nats/errors.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace millrace::nats::detail {
namespace {

constexpr duration shortest_life = std::chrono::minutes(1); // of an ephemeral consumer that nobody pulls

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts)
    out += part;
  return out;
}

std::string_view policy_name(deliver_policy::kind how) noexcept {
  switch (how) {
  case deliver_policy::kind::all:
    return "all";
  case deliver_policy::kind::new_only:
    return "new";
  case deliver_policy::kind::last:
    return "last";
  case deliver_policy::kind::last_per_subject:
    return "last_per_subject";
  case deliver_policy::kind::by_start_sequence:
    return "by_start_sequence";
  case deliver_policy::kind::by_start_time:
    return "by_start_time";
  }
  return "all";
}

/// RFC 3339 with nanoseconds, UTC.
std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const auto fraction = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch() - since).count();
  const std::time_t seconds = since.count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + size, text.size() - size, ".%09lldZ", static_cast<long long>(fraction));
  return text.data();
}

void start_of(const jetstream& source, std::optional<std::uint64_t> resume_at, js_json::consumer_config& config) {
  if (resume_at) {
    config.deliver_policy = policy_name(deliver_policy::kind::by_start_sequence);
    config.opt_start_seq = resume_at;
    return;
  }
  const deliver_policy& policy = source.deliver();
  config.deliver_policy = policy_name(policy.how());
  if (policy.how() == deliver_policy::kind::by_start_sequence) config.opt_start_seq = policy.sequence();
  if (policy.how() == deliver_policy::kind::by_start_time) config.opt_start_time = timestamp(policy.time());
}

error refusal(const js_json::api_error& e, std::string_view place) {
  return error(make_error_code(errc::jetstream), std::string(place))
      .from_server(e.err_code.value_or(e.code), e.description.value_or("refused"));
}

template <class Response> result<Response> read(std::string_view text, std::string_view place) {
  Response response;
  if (result<void> decoded = json_codec::decode(as_bytes(text), response); !decoded)
    return fail(errc::jetstream, std::string(place) + ": not an answer of JetStream: " + decoded.error().message());
  if (response.error) return fail(refusal(*response.error, place));
  return response;
}

} // namespace

std::string stream_info_subject(std::string_view stream) { return concat({"$JS.API.STREAM.INFO.", stream}); }

std::string consumer_info_subject(std::string_view stream, std::string_view consumer) {
  return concat({"$JS.API.CONSUMER.INFO.", stream, ".", consumer});
}

std::string consumer_create_subject(const jetstream& source) {
  if (source.durable().empty()) return concat({"$JS.API.CONSUMER.CREATE.", source.stream()});
  return concat({"$JS.API.CONSUMER.DURABLE.CREATE.", source.stream(), ".", source.durable()});
}

std::string next_subject(std::string_view stream, std::string_view consumer) {
  return concat({"$JS.API.CONSUMER.MSG.NEXT.", stream, ".", consumer});
}

std::string consumer_create_request(const jetstream& source, std::optional<std::uint64_t> resume_at) {
  js_json::create_request request;
  request.stream_name = source.stream();
  js_json::consumer_config& config = request.config;
  if (!source.durable().empty()) config.durable_name = source.durable();
  start_of(source, resume_at, config);
  config.ack_wait = source.ack_wait().count();
  config.filter_subject = source.name();
  config.max_ack_pending = source.max_ack_pending();
  // The server takes a consumer without an open pull for abandoned, by default after 5 s: slow handlers hold the whole
  // window longer than that.
  if (source.durable().empty())
    config.inactive_threshold = std::max<duration>(shortest_life, source.ack_wait() * 2).count();
  byte_buffer out;
  (void)json_codec::encode(request, out); // names were checked: there is nothing that cannot be written
  return out;
}

std::string_view pull_request(std::uint32_t batch, duration expires, duration heartbeat,
                              pull_storage& storage) noexcept {
  const int size =
      std::snprintf(storage.data(), storage.size(), R"({"batch":%u,"expires":%lld,"idle_heartbeat":%lld})", batch,
                    static_cast<long long>(expires.count()), static_cast<long long>(heartbeat.count()));
  return {storage.data(), static_cast<std::size_t>(size)};
}

std::string_view sweep_request(std::uint32_t batch, pull_storage& storage) noexcept {
  const int size = std::snprintf(storage.data(), storage.size(), R"({"batch":%u,"no_wait":true})", batch);
  return {storage.data(), static_cast<std::size_t>(size)};
}

result<void> read_api_response(std::string_view response, std::string_view place) {
  auto parsed = read<js_json::response>(response, place);
  if (!parsed) return fail(std::move(parsed.error()));
  return {};
}

result<std::string> read_consumer_response(std::string_view response, std::string_view place) {
  auto parsed = read<js_json::response>(response, place);
  if (!parsed) return fail(std::move(parsed.error()));
  if (!parsed->name) return fail(errc::jetstream, std::string(place) + ": the answer names no consumer");
  return std::move(*parsed->name);
}

result<publish_ack> read_publish_ack(std::string_view response, std::string_view place) {
  auto parsed = read<js_json::ack_response>(response, place);
  if (!parsed) return fail(std::move(parsed.error()));
  if (!parsed->stream || !parsed->seq)
    return fail(errc::jetstream, std::string(place) + ": not a publish acknowledgement");
  publish_ack ack;
  ack.stream = std::move(*parsed->stream);
  ack.sequence = *parsed->seq;
  ack.duplicate = parsed->duplicate.value_or(false);
  return ack;
}

} // namespace millrace::nats::detail
