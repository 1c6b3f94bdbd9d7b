#include "session/core_delivery.hpp"

namespace millrace::nats::detail {

const header_map& core_delivery::headers() {
  if (headers_ready_) return headers_;
  headers_.clear();
  message_.load_headers(headers_);
  if (!message_.reply().empty()) headers_.set("reply-to", message_.reply());
  headers_ready_ = true;
  return headers_;
}

} // namespace millrace::nats::detail
