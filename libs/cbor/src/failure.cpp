#include <millrace/cbor/detail/reader.hpp>

#include <millrace/codec/detail/json_path.hpp>

namespace millrace::detail {
namespace {

const char* describe_kind(cbor_kind kind) noexcept {
  switch (kind) {
  case cbor_kind::unsigned_integer:
  case cbor_kind::negative_integer:
    return "an integer";
  case cbor_kind::number:
    return "a floating-point number";
  case cbor_kind::boolean:
    return "a boolean";
  case cbor_kind::null:
    return "null";
  case cbor_kind::undefined:
    return "undefined";
  case cbor_kind::text:
  case cbor_kind::text_chunks:
    return "a text";
  case cbor_kind::bytes:
  case cbor_kind::byte_chunks:
    return "bytes";
  case cbor_kind::array:
  case cbor_kind::open_array:
    return "an array";
  case cbor_kind::map:
  case cbor_kind::open_map:
    return "a map";
  case cbor_kind::tag:
    return "a tag";
  case cbor_kind::end_mark:
    break;
  }
  return "an end mark";
}

} // namespace

bool cbor_reader::fail(const char* what) {
  where_ = at_;
  what_ = what;
  return false;
}

bool cbor_reader::wrong_type(const char* expected) {
  found_ = describe_kind(head_.kind);
  return fail(expected);
}

bool cbor_reader::within(std::string_view member) {
  prepend_json_member(path_, member);
  return false;
}

bool cbor_reader::within(std::size_t index) {
  prepend_json_index(path_, index);
  return false;
}

error cbor_reader::failure() const {
  std::string what = what_;
  if (found_ != nullptr) what = "expected " + what + ", found " + found_;
  what += " (byte " + std::to_string(where_) + ")";
  return {errc::decode, describe_json_failure(path_, what)};
}

} // namespace millrace::detail
