#include <millrace/msgpack/detail/reader.hpp>

#include <millrace/codec/detail/json_path.hpp>

namespace millrace::detail {
namespace {

const char* describe_kind(msgpack_kind kind) noexcept {
  switch (kind) {
  case msgpack_kind::nil:
    return "nil";
  case msgpack_kind::boolean:
    return "a boolean";
  case msgpack_kind::unsigned_integer:
  case msgpack_kind::negative_integer:
    return "an integer";
  case msgpack_kind::number:
    return "a floating-point number";
  case msgpack_kind::text:
    return "a text";
  case msgpack_kind::bytes:
    return "bytes";
  case msgpack_kind::extension:
    return "an extension";
  case msgpack_kind::array:
    return "an array";
  case msgpack_kind::map:
    break;
  }
  return "a map";
}

} // namespace

bool msgpack_reader::fail(const char* what) {
  where_ = at_;
  what_ = what;
  return false;
}

bool msgpack_reader::wrong_type(const char* expected) {
  found_ = describe_kind(head_.kind);
  return fail(expected);
}

bool msgpack_reader::within(std::string_view member) {
  prepend_json_member(path_, member);
  return false;
}

bool msgpack_reader::within(std::size_t index) {
  prepend_json_index(path_, index);
  return false;
}

error msgpack_reader::failure() const {
  std::string what = what_;
  if (found_ != nullptr) what = "expected " + what + ", found " + found_;
  what += " (byte " + std::to_string(where_) + ")";
  return {errc::decode, describe_json_failure(path_, what)};
}

} // namespace millrace::detail
