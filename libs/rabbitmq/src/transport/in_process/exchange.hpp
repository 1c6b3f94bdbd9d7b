#pragma once

#include "transport/in_process/message.hpp"
#include "transport/in_process/refusal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::rabbitmq::detail::in_process {

class queue;

/// An exchange and its bindings.
class exchange {
 public:
  struct settings {
    std::string name;
    std::string type;
    bool durable = true;
    bool auto_delete = false;
    std::string arguments; ///< a table
  };

  explicit exchange(settings s) : settings_(std::move(s)) {}

  [[nodiscard]] const settings& declared() const noexcept { return settings_; }
  /// The type by which messages are routed: of an `x-delayed-message` exchange the one inside.
  [[nodiscard]] std::string_view routing_type() const noexcept;
  [[nodiscard]] bool delays() const noexcept { return settings_.type == "x-delayed-message"; }

  /// Binding again changes nothing. Refuses a key that the type cannot use.
  [[nodiscard]] answer<void> bind(queue& to, std::string key, std::string arguments);
  /// False: it was bound, and its last binding is gone.
  [[nodiscard]] bool unbind_all(const queue& from) noexcept;
  /// Adds each queue that takes `m`, once.
  void route(const message& m, std::vector<queue*>& to) const;

 private:
  struct binding {
    queue* to;
    std::string key;
    std::string arguments;
  };
  [[nodiscard]] bool takes(const binding& b, const message& m) const noexcept;
  void route_by_hash(const message& m, std::vector<queue*>& to) const;

  settings settings_;
  std::vector<binding> bindings_;
};

/// Whether the server knows exchanges of that type.
[[nodiscard]] bool is_exchange_type(std::string_view type) noexcept;

} // namespace millrace::rabbitmq::detail::in_process
