#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>

#include <concepts>
#include <string_view>

namespace google::protobuf {
class MessageLite;
} // namespace google::protobuf

namespace millrace {

/// A message type that protoc generated, with or without the lite runtime.
template <class T>
concept protobuf_message = std::derived_from<T, google::protobuf::MessageLite>;

namespace detail {
[[nodiscard]] result<void> parse_protobuf(bytes_view payload, google::protobuf::MessageLite& out);
[[nodiscard]] result<void> serialize_protobuf(const google::protobuf::MessageLite& message, byte_buffer& out);
} // namespace detail

/// Protocol Buffers, for generated message types. Stateless; safe from any thread.
struct protobuf_codec {
  static constexpr std::string_view content_type = "application/x-protobuf";

  /// Reads the message that `payload` is into `out`, which may be reused: it is cleared first, and keeps what its
  /// strings and repeated fields have allocated. Unknown fields are kept, as protobuf keeps them. Messages may be
  /// nested in one another 64 deep.
  ///
  /// Errors: `errc::decode`, whose context names the message type and, where a required field is absent (proto2), the
  /// fields: `shop.order: missing customer.id`. `out` is then valid, but unspecified.
  template <class T> [[nodiscard]] static result<void> decode(bytes_view payload, T& out) {
    static_assert(protobuf_message<T>, "millrace: protobuf_codec takes the message types that protoc generates");
    return detail::parse_protobuf(payload, out);
  }

  /// Appends `message` to `out`.
  ///
  /// Errors: `errc::encode` for a message that lacks a required field (proto2) or exceeds 2 GiB, in the same words.
  /// `out` is as it was.
  template <class T> [[nodiscard]] static result<void> encode(const T& message, byte_buffer& out) {
    static_assert(protobuf_message<T>, "millrace: protobuf_codec takes the message types that protoc generates");
    return detail::serialize_protobuf(message, out);
  }
};

} // namespace millrace
