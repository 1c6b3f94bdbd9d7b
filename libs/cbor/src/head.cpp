#include "head.hpp"

#include <cbor.h>

namespace millrace::detail {
namespace {

template <cbor_kind Kind> void mark(void* head) { static_cast<cbor_head*>(head)->kind = Kind; }

template <cbor_kind Kind, class Value> void count(void* head, Value value) {
  mark<Kind>(head);
  static_cast<cbor_head*>(head)->value = value;
}

template <class Float> void measure(void* head, Float value) {
  mark<cbor_kind::number>(head);
  static_cast<cbor_head*>(head)->number = static_cast<double>(value);
}

template <cbor_kind Kind> void quote(void* head, cbor_data data, std::size_t size) {
  mark<Kind>(head);
  static_cast<cbor_head*>(head)->text = {reinterpret_cast<const char*>(data), size};
}

constexpr cbor_callbacks callbacks{
    .uint8 = count<cbor_kind::unsigned_integer>,
    .uint16 = count<cbor_kind::unsigned_integer>,
    .uint32 = count<cbor_kind::unsigned_integer>,
    .uint64 = count<cbor_kind::unsigned_integer>,
    .negint64 = count<cbor_kind::negative_integer>,
    .negint32 = count<cbor_kind::negative_integer>,
    .negint16 = count<cbor_kind::negative_integer>,
    .negint8 = count<cbor_kind::negative_integer>,
    .byte_string_start = mark<cbor_kind::byte_chunks>,
    .byte_string = quote<cbor_kind::bytes>,
    .string = quote<cbor_kind::text>,
    .string_start = mark<cbor_kind::text_chunks>,
    .indef_array_start = mark<cbor_kind::open_array>,
    .array_start = count<cbor_kind::array>,
    .indef_map_start = mark<cbor_kind::open_map>,
    .map_start = count<cbor_kind::map>,
    .tag = count<cbor_kind::tag>,
    .float2 = measure,
    .float4 = measure,
    .float8 = measure,
    .undefined = mark<cbor_kind::undefined>,
    .null = mark<cbor_kind::null>,
    .boolean = count<cbor_kind::boolean>,
    .indef_break = mark<cbor_kind::end_mark>,
};

} // namespace

head_status parse_head(bytes_view bytes, cbor_head& head, std::size_t& size) noexcept {
  const auto* data = reinterpret_cast<cbor_data>(bytes.data());
  const auto parsed = cbor_stream_decode(data, bytes.size(), &callbacks, &head);
  size = parsed.read;
  if (parsed.status == CBOR_DECODER_FINISHED) return head_status::complete;
  return parsed.status == CBOR_DECODER_NEDATA ? head_status::truncated : head_status::malformed;
}

} // namespace millrace::detail
