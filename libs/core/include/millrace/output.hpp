#pragma once

#include <millrace/context.hpp>
#include <millrace/publisher.hpp>

#include <concepts>
#include <string_view>
#include <tuple>
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

namespace detail {

/// How an output's message types are written in the codec that its mount chose.
template <class Messages> struct output_writers;
template <class... T> struct output_writers<messages<T...>> {
  template <class M> using writer = result<void> (*)(const M&, byte_buffer&);

  std::tuple<writer<T>...> writers;
  std::string_view content_type;

  template <class M> [[nodiscard]] writer<M> writer_of() const noexcept { return std::get<writer<M>>(writers); }
  template <class Codec> static const output_writers* of() noexcept {
    static constexpr output_writers chosen{
        {+[](const T& value, byte_buffer& into) -> result<void> { return Codec::encode(value, into); }...},
        Codec::content_type};
    return &chosen;
  }
};

} // namespace detail

/// A handler parameter: a live publisher, bound at the mount with `registration::bind<Marker>(publisher)`. Only the
/// marker's message types leave through it, in the codec that the mount chose unless a call names another.
template <output_marker Marker> class out {
 public:
  explicit out(const detail::bound_output& bound) noexcept
      : cell_(bound.cell.get()), chosen_(static_cast<const writers*>(bound.writers)) {}

  template <class T> [[nodiscard]] auto message(const T& value) const {
    check<T>();
    return detail::start_message<any_policy>(*cell_, value, chosen_->template writer_of<T>(), chosen_->content_type);
  }
  template <class Codec, class T> [[nodiscard]] auto message(const T& value) const {
    check<T>();
    return detail::start_message<any_policy, Codec>(*cell_, value);
  }
  template <class T> [[nodiscard]] auto publish(std::string_view destination, const T& value) const {
    return message(value).to(destination);
  }
  template <class Codec, class T> [[nodiscard]] auto publish(std::string_view destination, const T& value) const {
    return message<Codec>(value).to(destination);
  }

  [[nodiscard]] static std::string_view name() noexcept { return Marker::name; }
  [[nodiscard]] static const void* tag() noexcept { return &detail::output_tag<Marker>; }

 private:
  using writers = detail::output_writers<typename Marker::messages>;
  template <class T> static constexpr void check() {
    static_assert(Marker::messages::template contains<T>,
                  "millrace: this message type may not leave through this output: add it to the marker's `messages`");
  }
  detail::publish_cell* cell_;
  const writers* chosen_;
};

namespace detail {
template <class> inline constexpr bool is_output = false;
template <class M> inline constexpr bool is_output<out<M>> = true;
} // namespace detail

} // namespace millrace
