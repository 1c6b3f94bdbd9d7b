#pragma once

#include "protocol/table.hpp"
#include "transport/in_process/queue_settings.hpp"

#include <span>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail::in_process {

/// An argument that the server knows: which kinds of queue take it, and how it is read. `read` answers what is wrong in
/// the server's words; empty: nothing.
struct argument_rule {
  std::string_view key;
  std::string_view kinds; ///< of 'c', 'q' and 's'
  std::string (*read)(const field_value& value, queue_settings& into);

  [[nodiscard]] bool fits(queue_kind kind) const noexcept {
    return kinds.contains(std::string_view("cqs")[static_cast<std::size_t>(kind)]);
  }
};

/// In the order in which the server compares them.
[[nodiscard]] std::span<const argument_rule> argument_rules() noexcept;

} // namespace millrace::rabbitmq::detail::in_process
