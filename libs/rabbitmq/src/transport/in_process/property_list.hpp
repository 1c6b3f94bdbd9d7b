#pragma once

#include "protocol/wire.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// The properties of AMQP's basic class, in the order of the wire.
enum class property : std::uint8_t {
  content_type,
  content_encoding,
  headers,
  delivery_mode,
  priority,
  correlation_id,
  reply_to,
  expiration,
  message_id,
  timestamp,
  type,
  user_id,
  app_id,
  cluster_id,
};

/// The properties of one message, taken apart so that the server can change one of them.
class property_list {
 public:
  /// Nothing: malformed.
  [[nodiscard]] static std::optional<property_list> parse(std::string_view bytes);
  [[nodiscard]] std::string bytes() const;

  [[nodiscard]] bool has(property p) const noexcept { return !at(p).empty(); }
  /// Of a short string; empty where it is absent.
  [[nodiscard]] std::string_view text(property p) const noexcept;
  /// Of an octet; nothing where it is absent.
  [[nodiscard]] std::optional<std::uint8_t> octet(property p) const noexcept;
  void set_text(property p, std::string_view text);
  void clear(property p) { raw_[static_cast<std::size_t>(p)].clear(); }

  /// The headers, without their length.
  [[nodiscard]] std::string_view table() const noexcept;
  void set_table(std::string_view table);

 private:
  static constexpr std::size_t count = 14;
  [[nodiscard]] const std::string& at(property p) const noexcept { return raw_[static_cast<std::size_t>(p)]; }
  std::array<std::string, count> raw_; ///< as it stands on the wire; empty: absent
};

/// `table` without the field of that name.
[[nodiscard]] std::string without_field(std::string_view table, std::string_view name);

} // namespace millrace::rabbitmq::detail::in_process
