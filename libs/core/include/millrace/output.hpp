#pragma once

#include <millrace/publisher.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace millrace {

/// The message types that may leave through an output.
template <class... T> struct messages {
  template <class M> static constexpr bool contains = (std::is_same_v<M, T> || ...);
};

/// Names an output: `struct audit { static constexpr std::string_view name = "audit"; using messages =
/// millrace::messages<entry>; };`
template <class M>
concept output_marker = requires {
  typename M::messages;
  { M::name } -> std::convertible_to<std::string_view>;
};

/// The policy of an output: the handler knows no broker, so it has no options of its own.
class any_policy {
 public:
  struct options {};
  static constexpr bool can_request = true;
  static constexpr bool can_transact = true;
  static constexpr bool can_own_transactions = true;
};

/// A handler parameter: a live publisher, bound at the mount with `registration::bind<Marker>(publisher)`. Only the
/// marker's message types leave through it.
template <output_marker Marker> class out {
 public:
  explicit out(detail::publish_cell& cell) noexcept : cell_(&cell) {}

  template <class Codec = json_codec, class T> [[nodiscard]] auto message(const T& value) const {
    static_assert(Marker::messages::template contains<T>,
                  "millrace: this message type may not leave through this output: add it to the marker's `messages`");
    return detail::start_message<any_policy, Codec>(*cell_, value);
  }
  template <class Codec = json_codec, class T>
  [[nodiscard]] auto publish(std::string_view destination, const T& value) const {
    return message<Codec>(value).to(destination);
  }

  [[nodiscard]] static std::string_view name() noexcept { return Marker::name; }
  [[nodiscard]] static const void* tag() noexcept { return &detail::output_tag<Marker>; }

 private:
  detail::publish_cell* cell_;
};

namespace detail {
template <class> inline constexpr bool is_output = false;
template <class M> inline constexpr bool is_output<out<M>> = true;
} // namespace detail

} // namespace millrace
