#pragma once

#include "transport/in_process/refusal.hpp"

#include <millrace/runtime.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

enum class queue_kind : std::uint8_t { classic, quorum, stream };
enum class overflow : std::uint8_t { drop_head, reject_publish, reject_publish_dlx };

/// A queue as it was declared: its flags, its arguments as they came, and what was read of them.
struct queue_settings {
  std::string name;
  std::string vhost;
  bool durable = false;
  bool exclusive = false;
  bool auto_delete = false;
  std::string arguments; ///< a table

  queue_kind kind = queue_kind::classic;
  std::optional<duration> message_ttl;
  std::optional<duration> expires;
  std::optional<std::string> dead_letter_exchange;
  std::optional<std::string> dead_letter_key;
  std::optional<std::int64_t> max_length;
  std::optional<std::int64_t> max_bytes;
  std::optional<std::int64_t> delivery_limit;
  int max_priority = 0;
  overflow when_full = overflow::drop_head;
  bool single_active = false;

  [[nodiscard]] std::string described() const { return place("queue", name, vhost); }
};

/// Reads the arguments; refuses what the server refuses of a queue of that kind.
[[nodiscard]] answer<void> read_arguments(queue_settings& of);

/// Refuses a declaration that differs from the queue that is there, with the first difference.
[[nodiscard]] answer<void> check_equivalent(const queue_settings& current, const queue_settings& declared);

/// Compares one argument of two tables as the server does; `what` names the entity.
[[nodiscard]] answer<void> check_same_argument(std::string_view current, std::string_view declared,
                                               std::string_view key, const std::string& what);

/// Compares one property of two declarations.
[[nodiscard]] answer<void> check_same(std::string_view property, std::string_view current, std::string_view declared,
                                      const std::string& what);
[[nodiscard]] answer<void> check_same(std::string_view property, bool current, bool declared, const std::string& what);

} // namespace millrace::rabbitmq::detail::in_process
