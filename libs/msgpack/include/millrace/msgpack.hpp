#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/detail/binary_write.hpp>
#include <millrace/error.hpp>
#include <millrace/msgpack/detail/read.hpp>
#include <millrace/msgpack/detail/writer.hpp>

#include <concepts>
#include <string_view>

namespace millrace {

/// Whether `msgpack_codec::decode` accepts a `T`: the types are those of `json_codec`.
template <class T>
concept msgpack_decodable = std::default_initializable<T> && detail::json_has_form<T>();

/// Whether `msgpack_codec::encode` accepts a `T`.
template <class T>
concept msgpack_encodable = detail::json_has_form<T>();

/// MessagePack without a document tree: straight into and out of described structs, as maps whose keys are the members'
/// names. Stateless; safe from any thread.
struct msgpack_codec {
  static constexpr std::string_view content_type = "application/msgpack";

  /// Reads the one value in `document` into `out`, which may be reused, with what it has allocated; every described
  /// member is overwritten.
  ///
  /// Ignores members that `T` does not have and members whose key is no string; bin and ext are read nowhere else. An
  /// absent or nil `std::optional` is reset; any other member must be present. Of duplicate members the last one
  /// counts. Floating-point members take integers too, integers take no floating-point number. `std::array` takes
  /// exactly its size. Nesting is limited to 64 arrays and maps, ignored ones included.
  ///
  /// Errors: `errc::decode`, whose context names the member and the offset: `lines[2].qty: number out of range (byte
  /// 81)`. `out` is then valid, but unspecified.
  template <class T> [[nodiscard]] static result<void> decode(bytes_view document, T& out) {
    detail::msgpack_reader reader(document);
    if (detail::read_msgpack(reader, out) && reader.finish()) [[likely]]
      return {};
    return fail(reader.failure());
  }

  /// Appends `value` to `out`: everything in its shortest form, `float` in 4 bytes and `double` in 8. An empty
  /// `std::optional` is omitted as a member, and nil elsewhere.
  ///
  /// Errors: `errc::encode` for text that is not UTF-8, a value that is no described enumerator, more than 64 nested
  /// arrays and maps, and a size beyond 32 bits. The context names the member, and `out` is as it was.
  template <class T> [[nodiscard]] static result<void> encode(const T& value, byte_buffer& out) {
    detail::msgpack_writer writer(out);
    if (!detail::write_binary(writer, value)) [[unlikely]]
      return fail(writer.failure());
    return {};
  }
};

} // namespace millrace
