#pragma once

#include <millrace/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::pubsub::detail {

enum class resource : std::uint8_t { topic, subscription };

[[nodiscard]] std::string_view word_of(resource kind) noexcept;

/// `projects/<project>/topics/<id>` of a short id; a full name of the kind stays as it is. What is neither, or breaks
/// the service's rules for names, is an error that says why (`millrace::errc::invalid_options`).
[[nodiscard]] result<std::string> full_name(resource kind, std::string_view project, std::string_view name);

/// Empty: it is a project id. Else why not.
[[nodiscard]] std::string_view fault_of_project(std::string_view project) noexcept;
/// The same of the last part of a name.
[[nodiscard]] std::string_view fault_of_id(std::string_view id) noexcept;

/// host[:port] alone, of whatever was written: no scheme, credentials, path or query.
[[nodiscard]] std::string host_of(std::string_view endpoint);

/// For the metadata `x-goog-request-params`.
[[nodiscard]] std::string percent_encoded(std::string_view text);

} // namespace millrace::pubsub::detail
