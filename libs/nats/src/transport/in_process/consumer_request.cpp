#include "transport/in_process/consumer_request.hpp"

#include <boost/json.hpp>

namespace millrace::nats::detail::in_process {
namespace {

namespace json = boost::json;

std::optional<api_error> check_name(std::string_view name, bool durable) {
  if (name.size() > 255) return api_error{400, 10102, "consumer name is too long, maximum allowed is 255"};
  if (name.find_first_of("/\\") != std::string_view::npos)
    return api_error{400, 10127, "Consumer name can not contain path separators"};
  if (name.find_first_of(".*>") == std::string_view::npos) return std::nullopt;
  if (durable) return api_error{400, 10103, "durable name can not contain '.', '*', '>'"};
  return api_error{400, 10103, "consumer name can not contain '.', '*', '>'"};
}

/// Whether the subject and the request name the same consumer.
std::optional<api_error> compare(const create_subject& subject, const consumer_config& config) {
  if (subject.durable && config.durable_name.empty())
    return api_error{400, 10018, "consumer expected to be durable but a durable name was not set"};
  if (subject.name.empty() && !config.durable_name.empty())
    return api_error{400, 10020, "consumer expected to be ephemeral but a durable name was set in request"};
  if (!config.durable_name.empty() && config.durable_name != subject.name)
    return api_error{400, 10017, "consumer name in subject does not match durable name in request"};
  if (!subject.filter.empty() && subject.filter != config.filter_subject)
    return api_error{400, 10131, "Consumer create request did not match filtered subject from create subject"};
  return check_name(subject.name.empty() ? std::string_view(config.name) : subject.name, subject.durable);
}

} // namespace

std::expected<consumer_config, api_error> parse_create_request(const create_subject& subject,
                                                               std::string_view payload) {
  json::error_code failed;
  const json::value request = json::parse(json::string_view(payload.data(), payload.size()), failed);
  if (failed || !request.is_object()) return std::unexpected(invalid_json);
  const json::value* stream = request.get_object().if_contains("stream_name");
  const json::value* wanted = request.get_object().if_contains("config");
  const json::value nothing = json::object();
  auto config = parse_consumer_config(wanted == nullptr ? nothing : *wanted);
  if (!config) return config;
  const bool same_stream =
      stream != nullptr && *stream == json::value(json::string_view(subject.stream.data(), subject.stream.size()));
  if (!same_stream) return std::unexpected(api_error{400, 10056, "stream name in subject does not match request"});
  if (auto refused = compare(subject, *config)) return std::unexpected(*std::move(refused));
  if (!subject.durable && !subject.name.empty()) config->name = subject.name;
  return config;
}

} // namespace millrace::nats::detail::in_process
