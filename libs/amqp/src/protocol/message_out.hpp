#pragma once

#include <millrace/amqp/publish.hpp>
#include <millrace/bytes.hpp>
#include <millrace/error.hpp>
#include <millrace/headers.hpp>

#include <string>
#include <string_view>

namespace millrace::amqp::detail {

/// One message on its way out; everything is lent.
struct outbound_message {
  const message_options* options = nullptr;  ///< null: the policy's alone
  const message_options* defaults = nullptr; ///< the policy's
  const header_map* headers = nullptr;
  std::string_view reply_to;       ///< wins over the header of this name
  std::string_view correlation_id; ///< likewise
  bytes_view payload;
};

/// Appends header, properties, application properties and one data section. `errc::invalid_options` names what cannot
/// be sent; then `out` has a part of it.
[[nodiscard]] result<void> append_message(std::string& out, const outbound_message& message);

} // namespace millrace::amqp::detail
