#include "protocol/status.hpp"

#include <pubsub_wire.pb.h>

namespace millrace::pubsub::detail {

std::string_view name_of(status_code code) noexcept {
  constexpr std::string_view names[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  const auto i = static_cast<std::size_t>(code);
  return i < std::size(names) ? names[i] : "UNKNOWN";
}

bool retries_admin(status_code code) noexcept {
  return code == status_code::unknown || code == status_code::aborted || code == status_code::unavailable;
}

bool retries_publish(status_code code) noexcept {
  switch (code) {
  case status_code::cancelled:
  case status_code::unknown:
  case status_code::deadline_exceeded:
  case status_code::resource_exhausted:
  case status_code::aborted:
  case status_code::internal:
  case status_code::unavailable:
    return true;
  default:
    return false;
  }
}

bool reopens_stream(status_code code) noexcept { return code == status_code::ok || retries_publish(code); }

error status_error(errc kind, std::string context, const call_status& status) {
  std::string text(name_of(status.code));
  if (!status.text.empty()) text += ": " + status.text;
  return error(make_error_code(kind), std::move(context)).from_server(static_cast<int>(status.code), std::move(text));
}

refused_ids read_refused_ids(std::string_view details) {
  refused_ids refused;
  wire::Status status;
  if (details.empty() || !status.ParseFromArray(details.data(), static_cast<int>(details.size()))) return refused;
  for (const wire::Any& any : status.details()) {
    wire::ErrorInfo info;
    if (!any.type_url().ends_with("google.rpc.ErrorInfo") || !info.ParseFromString(any.value())) continue;
    for (const auto& [id, why] : info.metadata()) {
      if (why.starts_with("PERMANENT_FAILURE_"))
        refused.permanent.push_back(id);
      else if (why.starts_with("TRANSIENT_"))
        refused.transient.push_back(id);
    }
  }
  return refused;
}

} // namespace millrace::pubsub::detail
