#pragma once

#include <millrace/context.hpp>
#include <millrace/output.hpp>
#include <millrace/typed_headers.hpp>

#include <expected>
#include <optional>
#include <type_traits>

namespace millrace {

/// A handler parameter: one field of the broker's deliveries, by its key: `field<nats::stream_sequence>`. Empty where
/// the delivery has none.
template <const auto& Key> class field {
  using key_type = std::remove_cvref_t<decltype(Key)>;

 public:
  using value_type = typename key_type::value_type;
  using broker_type = typename key_type::broker_type;
  explicit field(const value_type* value) noexcept : value_(value) {}
  [[nodiscard]] explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] const value_type& operator*() const noexcept { return *value_; }
  [[nodiscard]] const value_type* operator->() const noexcept { return value_; }
  [[nodiscard]] value_type value_or(value_type other) const { return value_ != nullptr ? *value_ : other; }

 private:
  const value_type* value_;
};

/// A type of the user's that handlers take as a parameter: `static std::expected<T, outcome> extract(context&)`. Its
/// error settles the message, and the handler is not called.
template <class T>
concept extractor = requires(context& ctx) {
  { T::extract(ctx) } -> std::same_as<std::expected<T, outcome>>;
};

namespace detail {

template <class> inline constexpr bool is_field = false;
template <const auto& Key> inline constexpr bool is_field<field<Key>> = true;
template <class> inline constexpr bool is_typed_headers = false;
template <class H> inline constexpr bool is_typed_headers<typed_headers<H>> = true;

/// What an extraction kept for the call.
template <class P> struct kept_parameter {
  using type = std::remove_cvref_t<P>;
  static auto storage() {
    if constexpr (is_typed_headers<type>)
      return type{};
    else if constexpr (extractor<type>)
      return std::optional<type>{};
    else
      return std::monostate{};
  }
  using storage_type = decltype(storage());
};

enum class extracted : std::uint8_t { ready, undecodable, settled };

/// Fills what is kept; `why` and `answer` say what else happened.
template <class P> extracted extract_parameter(typename kept_parameter<P>::storage_type& kept, context& ctx,
                                               std::optional<error>& why, outcome& answer) {
  using type = std::remove_cvref_t<P>;
  if constexpr (is_typed_headers<type>) {
    auto read = kept.read(ctx.headers());
    if (read) return extracted::ready;
    why = std::move(read).error();
    return extracted::undecodable;
  } else if constexpr (extractor<type>) {
    std::expected<type, outcome> value = type::extract(ctx);
    if (value) {
      kept.emplace(std::move(*value));
      return extracted::ready;
    }
    answer = std::move(value).error();
    return extracted::settled;
  } else {
    return extracted::ready;
  }
}

/// The argument that the handler gets.
template <class P, class State>
decltype(auto) handler_argument(typename kept_parameter<P>::storage_type& kept, context& ctx, const void* state) {
  using type = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<type, context>) {
    static_assert(std::is_same_v<P, context&>, "millrace: take the context as `millrace::context&`");
    return (ctx);
  } else if constexpr (is_field<type>) {
    return [&] < const auto &
           Key > (std::type_identity<field<Key>>) { return field<Key>(ctx.field(Key)); }(std::type_identity<type>{});
  } else if constexpr (is_output<type>) {
    return type(ctx.output(type::tag()));
  } else if constexpr (is_typed_headers<type>) {
    return static_cast<const type&>(kept);
  } else if constexpr (extractor<type>) {
    return static_cast<type&>(*kept);
  } else {
    static_assert(
        std::is_same_v<type, State>,
        "millrace: a handler's further parameters are `millrace::context&`, `const State&` (the service's state type: "
        "build "
        "the service as `millrace::service<State>`), `millrace::field<key>`, `const millrace::typed_headers<H>&`, "
        "`millrace::out<Marker>`, or a type with `static std::expected<T, millrace::outcome> "
        "extract(millrace::context&)`");
    return *static_cast<const type*>(state);
  }
}

} // namespace detail
} // namespace millrace
