#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// Why the server closes a channel or, with a hard code, the connection; in the server's words.
struct refusal {
  std::uint16_t code = 0;
  std::string text;
  [[nodiscard]] bool ends_connection() const noexcept { return code >= 500; }
};

template <class T> using answer = std::expected<T, refusal>;

[[nodiscard]] std::string_view name_of_code(std::uint16_t code) noexcept;

[[nodiscard]] inline std::unexpected<refusal> refuse(std::uint16_t code, std::string_view why) {
  return std::unexpected(refusal{code, std::string(name_of_code(code)).append(" - ").append(why)});
}

/// "queue 'orders' in vhost '/'", as the server names things.
[[nodiscard]] inline std::string place(std::string_view kind, std::string_view name, std::string_view vhost) {
  return std::string(kind).append(" '").append(name).append("' in vhost '").append(vhost).append("'");
}

} // namespace millrace::rabbitmq::detail::in_process
