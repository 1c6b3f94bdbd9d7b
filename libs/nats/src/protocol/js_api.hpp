#pragma once

#include <millrace/error.hpp>
#include <millrace/nats/sources.hpp>

#include <boost/describe/class.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::nats::detail {

/// JetStream's API: JSON requests to `$JS.API.…`, answered on the reply subject.
[[nodiscard]] std::string stream_info_subject(std::string_view stream);
[[nodiscard]] std::string consumer_info_subject(std::string_view stream, std::string_view consumer);
/// Creates or updates. The forms that every server since 2.2 has.
[[nodiscard]] std::string consumer_create_subject(const jetstream& source);
[[nodiscard]] std::string next_subject(std::string_view stream, std::string_view consumer);

/// The consumer that `source` describes. `resume_at`: another start than the source's, for a consumer that was lost.
[[nodiscard]] std::string consumer_create_request(const jetstream& source, std::optional<std::uint64_t> resume_at);

using pull_storage = std::array<char, 128>;
/// For `expires`; a heartbeat of zero is none.
[[nodiscard]] std::string_view pull_request(std::uint32_t batch, duration expires, duration heartbeat,
                                            pull_storage& storage) noexcept;
/// For what is there now.
[[nodiscard]] std::string_view sweep_request(std::uint32_t batch, pull_storage& storage) noexcept;

inline constexpr int consumer_not_found = 10014;
inline constexpr int stream_not_found = 10059;

/// The server's refusal, or nothing. `place` names what was asked for.
[[nodiscard]] result<void> read_api_response(std::string_view response, std::string_view place);
/// The name of the consumer that was created.
[[nodiscard]] result<std::string> read_consumer_response(std::string_view response, std::string_view place);

struct publish_ack {
  std::string stream;
  std::uint64_t sequence = 0;
  bool duplicate = false;
};
[[nodiscard]] result<publish_ack> read_publish_ack(std::string_view response, std::string_view place);

namespace js_json {

struct api_error {
  int code = 0;
  std::optional<int> err_code;
  std::optional<std::string> description;
};
BOOST_DESCRIBE_STRUCT(api_error, (), (code, err_code, description))

struct response {
  std::optional<api_error> error;
  std::optional<std::string> name;
};
BOOST_DESCRIBE_STRUCT(response, (), (error, name))

struct ack_response {
  std::optional<api_error> error;
  std::optional<std::string> stream;
  std::optional<std::uint64_t> seq;
  std::optional<bool> duplicate;
};
BOOST_DESCRIBE_STRUCT(ack_response, (), (error, stream, seq, duplicate))

struct consumer_config {
  std::optional<std::string> durable_name;
  std::string deliver_policy;
  std::optional<std::uint64_t> opt_start_seq;
  std::optional<std::string> opt_start_time;
  std::string ack_policy = "explicit";
  std::int64_t ack_wait = 0;
  std::string filter_subject;
  std::string replay_policy = "instant";
  std::int64_t max_ack_pending = 0;
  std::optional<std::int64_t> inactive_threshold;
};
BOOST_DESCRIBE_STRUCT(consumer_config, (),
                      (durable_name, deliver_policy, opt_start_seq, opt_start_time, ack_policy, ack_wait,
                       filter_subject, replay_policy, max_ack_pending, inactive_threshold))

struct create_request {
  std::string stream_name;
  consumer_config config;
};
BOOST_DESCRIBE_STRUCT(create_request, (), (stream_name, config))

} // namespace js_json

} // namespace millrace::nats::detail
