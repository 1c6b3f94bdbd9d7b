#include <millrace/msgpack/detail/writer.hpp>

#include <millrace/codec/detail/json_path.hpp>
#include <millrace/codec/detail/json_reader.hpp>
#include <millrace/codec/detail/utf8.hpp>

#include <array>
#include <limits>
#include <msgpuck.h>

namespace millrace::detail {
namespace {

/// Appends what one of msgpuck's encoders makes: a head, or a head and a number.
template <class Encode, class... Value> void append(byte_buffer& out, Encode encode, Value... value) {
  std::array<char, 9> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  out.append(bytes.data(), encode(bytes.data(), value...));
}

} // namespace

void msgpack_writer::write_null() { append(out_, mp_encode_nil); }
void msgpack_writer::write_bool(bool value) { append(out_, mp_encode_bool, value); }
void msgpack_writer::write_unsigned(std::uint64_t value) { append(out_, mp_encode_uint, value); }
void msgpack_writer::write_negative(std::int64_t value) { append(out_, mp_encode_int, value); }
void msgpack_writer::write_number(double value) { append(out_, mp_encode_double, value); }
void msgpack_writer::write_number(float value) { append(out_, mp_encode_float, value); }

bool msgpack_writer::fits(std::size_t size) {
  return size <= std::numeric_limits<std::uint32_t>::max() || fail("too large");
}

bool msgpack_writer::write_text(std::string_view text) {
  if (!is_utf8(text)) return fail("invalid UTF-8");
  if (!fits(text.size())) return false;
  append(out_, mp_encode_strl, static_cast<std::uint32_t>(text.size()));
  out_.append(text);
  return true;
}

bool msgpack_writer::enter(std::size_t count) {
  return ++depth_ <= json_depth_limit ? fits(count) : fail("nested too deep");
}

bool msgpack_writer::open_array(std::size_t count) {
  if (!enter(count)) return false;
  append(out_, mp_encode_array, static_cast<std::uint32_t>(count));
  return true;
}

bool msgpack_writer::open_map(std::size_t count) {
  if (!enter(count)) return false;
  append(out_, mp_encode_map, static_cast<std::uint32_t>(count));
  return true;
}

bool msgpack_writer::fail(const char* what) {
  what_ = what;
  return false;
}

bool msgpack_writer::within(std::string_view member) {
  prepend_json_member(path_, member);
  return false;
}

bool msgpack_writer::within(std::size_t index) {
  prepend_json_index(path_, index);
  return false;
}

error msgpack_writer::failure() {
  out_.resize(start_);
  return {errc::encode, describe_json_failure(path_, what_)};
}

} // namespace millrace::detail
