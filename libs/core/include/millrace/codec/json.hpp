#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/detail/json_read.hpp>
#include <millrace/codec/detail/json_write.hpp>
#include <millrace/error.hpp>

namespace millrace {

/// Whether `json_codec::decode` accepts a `T`: bool, integers, float, double, std::string, described enums (as their
/// names), std::optional, std::vector, std::array, std::map and std::unordered_map with std::string keys, and described
/// structs of these (`BOOST_DESCRIBE_STRUCT`; public members, those of described bases included).
template <class T>
concept json_decodable = std::default_initializable<T> && detail::json_has_form<T>();

/// Whether `json_codec::encode` accepts a `T`.
template <class T>
concept json_encodable = detail::json_has_form<T>();

/// JSON (RFC 8259) without a document tree: straight into and out of described structs. Stateless; safe from any
/// thread.
struct json_codec {
  static constexpr std::string_view content_type = "application/json";

  /// Reads the one document in `document` into `out`, which may be reused: strings, vectors and small maps keep what
  /// they have allocated, and every described member is overwritten, so a repeated decode of similar documents does not
  /// allocate.
  ///
  /// Ignores members that `T` does not have. An absent or null `std::optional` is reset; any other member must be
  /// present and not null. Of duplicate members the last one counts. Integers take no fraction and no exponent, not
  /// even `1.0`. A double too small to represent becomes zero. `std::array` takes exactly its size. Nesting is limited
  /// to 64 arrays and objects, ignored ones included.
  ///
  /// Errors: `errc::decode`, whose context names the member and the offset: `lines[2].qty: number out of range (byte
  /// 81)`. `out` is then valid, but unspecified.
  template <class T> [[nodiscard]] static result<void> decode(bytes_view document, T& out) {
    detail::json_reader reader(document);
    if (detail::read_json(reader, out) && reader.finish()) [[likely]]
      return {};
    return fail(reader.failure());
  }

  /// Appends `value` to `out`, without whitespace. An empty `std::optional` is omitted as a member, and null elsewhere.
  /// Numbers are the shortest that read back as the same value. Text is escaped only where JSON asks for it.
  ///
  /// Errors: `errc::encode` for NaN and infinities, text that is not UTF-8, a value that is no described enumerator,
  /// and more than 64 nested arrays and objects. The context names the member, and `out` is as it was.
  template <class T> [[nodiscard]] static result<void> encode(const T& value, byte_buffer& out) {
    detail::json_writer writer(out);
    if (!detail::write_json(writer, value)) [[unlikely]]
      return fail(writer.failure());
    writer.finish();
    return {};
  }
};

} // namespace millrace
