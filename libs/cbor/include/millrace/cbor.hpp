#pragma once

#include <millrace/bytes.hpp>
#include <millrace/cbor/detail/read.hpp>
#include <millrace/cbor/detail/writer.hpp>
#include <millrace/codec/detail/binary_write.hpp>
#include <millrace/error.hpp>

#include <concepts>
#include <string_view>

namespace millrace {

/// Whether `cbor_codec::decode` accepts a `T`: the types are those of `json_codec`.
template <class T>
concept cbor_decodable = std::default_initializable<T> && detail::json_has_form<T>();

/// Whether `cbor_codec::encode` accepts a `T`.
template <class T>
concept cbor_encodable = detail::json_has_form<T>();

/// CBOR (RFC 8949) without a document tree: straight into and out of described structs, as maps whose keys are the
/// members' names. Stateless; safe from any thread.
struct cbor_codec {
  static constexpr std::string_view content_type = "application/cbor";

  /// Reads the one data item in `document` into `out`, which may be reused, with what it has allocated; every described
  /// member is overwritten.
  ///
  /// Ignores tags, members that `T` does not have and members whose key is no text. An absent, null or undefined
  /// `std::optional` is reset; any other member must be present. Of duplicate members the last one counts. Strings,
  /// arrays and maps may be of indefinite length. Floating-point members take integers too, integers take no
  /// floating-point number. `std::array` takes exactly its size. Nesting is limited to 64 arrays and maps, ignored ones
  /// included.
  ///
  /// Errors: `errc::decode`, whose context names the member and the offset: `lines[2].qty: number out of range (byte
  /// 81)`. `out` is then valid, but unspecified.
  template <class T> [[nodiscard]] static result<void> decode(bytes_view document, T& out) {
    detail::cbor_reader reader(document);
    if (detail::read_cbor(reader, out) && reader.finish()) [[likely]]
      return {};
    return fail(reader.failure());
  }

  /// Appends `value` to `out`: definite lengths, integers in their shortest form, `float` in 4 bytes and `double` in 8.
  /// An empty `std::optional` is omitted as a member, and null elsewhere.
  ///
  /// Errors: `errc::encode` for text that is not UTF-8, a value that is no described enumerator, and more than 64
  /// nested arrays and maps. The context names the member, and `out` is as it was.
  template <class T> [[nodiscard]] static result<void> encode(const T& value, byte_buffer& out) {
    detail::cbor_writer writer(out);
    if (!detail::write_binary(writer, value)) [[unlikely]]
      return fail(writer.failure());
    return {};
  }
};

} // namespace millrace
