#pragma once

#include <millrace/address_template.hpp>
#include <millrace/detail/thread_cache.hpp>
#include <millrace/publish_cell.hpp>
#include <millrace/typed_headers.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace millrace {

/// A message type that says where it goes: `static constexpr std::string_view destination = "invoices";`
template <class T>
concept fixed_destination = requires {
  { T::destination } -> std::convertible_to<std::string_view>;
};
/// One that leaves parts open: `static constexpr millrace::address_template destination{"invoices.{region}"};`
template <class T>
concept templated_destination =
    requires { requires std::same_as<std::remove_cvref_t<decltype(T::destination)>, address_template>; };
/// One that always carries headers: `using headers = billing_headers;`, a described struct.
template <class T>
concept declares_headers = requires { typename T::headers; } && header_contract<typename T::headers>;

namespace detail {

/// What only some messages have, kept beside the builder so that the builder stays small.
template <class Policy> struct outbound_extras {
  static constexpr std::size_t largest_kept = std::size_t{1024} * 1024; ///< of the buffer, in bytes

  std::string address; ///< a filled template
  byte_buffer encoded;
  header_map headers;
  std::optional<typename Policy::options> options;
  std::optional<error> refused;
  outbound_extras* next = nullptr;

  using cache = thread_cache<outbound_extras>;
  struct recycle {
    void operator()(outbound_extras* used) const noexcept {
      if (used->encoded.capacity() > largest_kept) return delete used;
      used->address.clear();
      used->encoded.clear();
      used->headers.clear();
      used->options.reset();
      used->refused.reset();
      cache::give_back(used);
    }
  };
};

/// What a builder gathered, whatever is still open.
template <class Policy> struct outbound_pieces {
  using extras = outbound_extras<Policy>;

  explicit outbound_pieces(publish_cell& to) noexcept : cell(&to) {}
  outbound_pieces(publish_cell& to, std::string_view destination, bytes_view payload) noexcept
      : cell(&to), message{destination, payload} {}
  /// Member by member: a block copy would wait for the stores that have just written it.
  outbound_pieces(outbound_pieces&& other) noexcept
      : cell(other.cell), message{other.message.destination, other.message.payload}, kept(std::move(other.kept)) {}
  /// Nothing is open any more: the message as a port takes it.
  [[nodiscard]] const outgoing& finish() noexcept {
    if (!kept) return message;
    if (!kept->address.empty()) message.destination = kept->address;
    if (!kept->headers.empty()) message.headers = &kept->headers;
    if (kept->options) message.options = &*kept->options;
    return message;
  }
  extras& more() {
    if (!kept) kept.reset(extras::cache::take());
    return *kept;
  }
  [[nodiscard]] std::optional<error>* refusal() noexcept { return kept ? &kept->refused : nullptr; }

  publish_cell* cell;
  outgoing message;
  std::unique_ptr<extras, typename extras::recycle> kept; ///< null: the message has none of it
};

/// A message without a type: bytes.
struct untyped_message {};

template <class T> constexpr std::uint32_t open_parts() {
  if constexpr (templated_destination<T>)
    return (1U << T::destination.size()) - 1;
  else if constexpr (fixed_destination<T>)
    return 0;
  else
    return 1;
}

} // namespace detail

/// A message being addressed: `co_await pub.message(value).to("orders").header("k", "v").with(option)`. Await it in the
/// expression that builds it: the destination and raw payload are lent. `Open` counts the parts of the destination that
/// are missing, `Headed` whether the headers that the type declares are there; awaiting compiles when nothing is
/// missing.
template <class Policy, class T, std::uint32_t Open, bool Headed> class [[nodiscard]] outbound {
 public:
  explicit outbound(detail::outbound_pieces<Policy>&& pieces) noexcept : pieces_(std::move(pieces)) {}
  outbound(detail::publish_cell& to, std::string_view destination, bytes_view payload) noexcept
      : pieces_(to, destination, payload) {}

  auto to(std::string_view destination) && {
    static_assert(!fixed_destination<T> && !templated_destination<T>,
                  "millrace: the message's type says where it goes");
    pieces_.message.destination = destination;
    return outbound<Policy, T, 0, Headed>(std::move(pieces_));
  }
  /// Gives a placeholder of the type's destination its value: `.fill<"region">("eu")`.
  template <fixed_text Name> auto fill(std::string_view value) && {
    static_assert(templated_destination<T>, "millrace: the message's type declares no template");
    constexpr std::size_t part = T::destination.find(Name.view());
    static_assert(part < address_template::most, "millrace: the template has no placeholder of this name");
    static_assert((Open & (1U << part)) != 0, "millrace: this placeholder has its value already");
    auto& more = pieces_.more();
    if (more.address.empty()) more.address = T::destination.pattern();
    if (auto filled = detail::fill_placeholder(more.address, Name.view(), value); !filled)
      more.refused = std::move(filled).error();
    return outbound < Policy, T, Open & ~(1U << part), Headed > (std::move(pieces_));
  }
  /// The headers that the type declares.
  template <class H> auto headers(const H& contract) &&
      requires(declares_headers<T>&& std::same_as<H, typename T::headers>) {
        write_headers(contract, pieces_.more().headers);
        return outbound<Policy, T, Open, true>(std::move(pieces_));
      } outbound&& headers(const header_map& more) && {
    pieces_.more().headers.merge(more);
    return std::move(*this);
  }
  /// Adds or replaces one header.
  outbound&& header(std::string_view name, std::string_view value) && {
    pieces_.more().headers.set(name, value);
    return std::move(*this);
  }
  /// One of the policy's per-message options, e.g. `nats::message_id("o-1")`.
  template <class Option> outbound&& with(const Option& option) && {
    auto& options = pieces_.more().options;
    if (!options) options.emplace();
    apply(*options, option);
    return std::move(*this);
  }

  publish_awaiter operator co_await() && noexcept {
    check_complete();
    return {*pieces_.cell, pieces_.finish(), nullptr, pieces_.refusal()};
  }

  /// Publishes and waits for one answer, at most `timeout` on the service's clock.
  task<result<reply_message>> request(duration timeout) && {
    static_assert(Policy::can_request, "millrace: this policy has no request/reply");
    check_complete();
    return send_request(std::move(pieces_), timeout);
  }

  [[nodiscard]] detail::outbound_pieces<Policy> release() && {
    check_complete();
    return std::move(pieces_);
  }

 private:
  static constexpr void check_complete() {
    static_assert(
        Open == 0,
        "millrace: the message has no complete destination: use `.to(...)`, or `.fill<\"name\">(...)` for every "
        "placeholder that its type declares");
    static_assert(Headed, "millrace: the message's type declares headers: give them with `.headers(...)`");
  }
  static task<result<reply_message>> send_request(detail::outbound_pieces<Policy> pieces, duration timeout) {
    if (std::optional<error>* refused = pieces.refusal(); refused != nullptr && *refused)
      co_return fail(std::move(**refused));
    co_return co_await pieces.cell->request(pieces.finish(), timeout);
  }
  detail::outbound_pieces<Policy> pieces_;
};

/// Bytes on which nothing but `.to(...)` is said, as most are: a builder that fits into registers, which one with
/// everything else does not.
template <class Policy> class [[nodiscard]] outbound_bytes {
 public:
  using open = outbound<Policy, detail::untyped_message, 1, true>;

  outbound_bytes(detail::publish_cell& cell, bytes_view payload) noexcept : cell_(&cell), payload_(payload) {}

  auto to(std::string_view destination) && noexcept {
    return outbound<Policy, detail::untyped_message, 0, true>(*cell_, destination, payload_);
  }
  open headers(const header_map& more) && {
    open builder = opened();
    std::move(builder).headers(more);
    return builder;
  }
  open header(std::string_view name, std::string_view value) && {
    open builder = opened();
    std::move(builder).header(name, value);
    return builder;
  }
  template <class Option> open with(const Option& option) && {
    open builder = opened();
    std::move(builder).with(option);
    return builder;
  }
  /// Does not compile: there is no destination yet.
  publish_awaiter operator co_await() && noexcept { return opened().operator co_await(); }

 private:
  [[nodiscard]] open opened() const noexcept { return open(*cell_, {}, payload_); }

  detail::publish_cell* cell_;
  bytes_view payload_;
};

namespace detail {

/// `encode` writes a `T` into a buffer; JSON is the content type that goes without saying.
template <class Policy, class T, class Encode>
auto start_message(publish_cell& cell, const T& value, Encode encode, std::string_view content_type) {
  outbound_pieces<Policy> pieces(cell);
  auto& more = pieces.more();
  if (result<void> encoded = encode(value, more.encoded); !encoded) more.refused = std::move(encoded).error();
  pieces.message.payload = as_bytes(more.encoded);
  if (content_type != "application/json") more.headers.set("content-type", content_type);
  if constexpr (fixed_destination<T>) pieces.message.destination = T::destination;
  return outbound<Policy, T, open_parts<T>(), !declares_headers<T>>(std::move(pieces));
}

template <class Policy, class Codec, class T> auto start_message(publish_cell& cell, const T& value) {
  return start_message<Policy>(
      cell, value, [](const T& from, byte_buffer& into) { return Codec::encode(from, into); }, Codec::content_type);
}

} // namespace detail
} // namespace millrace
