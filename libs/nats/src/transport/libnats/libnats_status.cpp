#include "transport/libnats/libnats_status.hpp"

#include <algorithm>

namespace millrace::nats::detail {

error status_error(natsStatus status, errc kind, std::string context) {
  natsStatus last = NATS_OK;
  const char* const detail = nats_GetLastError(&last);
  std::string text = natsStatus_GetText(status);
  if (last == status && detail != nullptr && *detail != '\0' && text != detail) text.append(": ").append(detail);
  return error(make_error_code(kind), std::move(context)).from_server(static_cast<int>(status), std::move(text));
}

std::int64_t to_milliseconds(duration d) noexcept {
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(d).count());
}

} // namespace millrace::nats::detail
