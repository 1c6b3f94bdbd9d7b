#include <millrace/cbor/detail/writer.hpp>

#include <millrace/codec/detail/json_path.hpp>
#include <millrace/codec/detail/json_reader.hpp>
#include <millrace/codec/detail/utf8.hpp>

#include <array>
#include <cbor.h>

namespace millrace::detail {
namespace {

/// Appends what one of libcbor's encoders makes: a head, or a head and a number.
template <class Encode> void append(byte_buffer& out, Encode encode) {
  std::array<unsigned char, 9> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  const std::size_t size = encode(bytes.data(), bytes.size());
  out.append(reinterpret_cast<const char*>(bytes.data()), size);
}

} // namespace

void cbor_writer::write_null() { append(out_, cbor_encode_null); }

void cbor_writer::write_bool(bool value) {
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_bool(value, to, room); });
}

void cbor_writer::write_unsigned(std::uint64_t value) {
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_uint(value, to, room); });
}

void cbor_writer::write_negative(std::uint64_t value) {
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_negint(value, to, room); });
}

void cbor_writer::write_number(double value) {
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_double(value, to, room); });
}

void cbor_writer::write_number(float value) {
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_single(value, to, room); });
}

bool cbor_writer::write_text(std::string_view text) {
  if (!is_utf8(text)) return fail("invalid UTF-8");
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_string_start(text.size(), to, room); });
  out_.append(text);
  return true;
}

bool cbor_writer::enter() { return ++depth_ <= json_depth_limit || fail("nested too deep"); }

bool cbor_writer::open_array(std::size_t count) {
  if (!enter()) return false;
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_array_start(count, to, room); });
  return true;
}

bool cbor_writer::open_map(std::size_t count) {
  if (!enter()) return false;
  append(out_, [=](auto* to, std::size_t room) { return cbor_encode_map_start(count, to, room); });
  return true;
}

bool cbor_writer::fail(const char* what) {
  what_ = what;
  return false;
}

bool cbor_writer::within(std::string_view member) {
  prepend_json_member(path_, member);
  return false;
}

bool cbor_writer::within(std::size_t index) {
  prepend_json_index(path_, index);
  return false;
}

error cbor_writer::failure() {
  out_.resize(start_);
  return {errc::encode, describe_json_failure(path_, what_)};
}

} // namespace millrace::detail
