#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/detail/json_read.hpp>
#include <millrace/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace millrace::detail {

class cbor_reader;

/// How one member of a described struct is read.
struct cbor_member {
  std::string_view name;
  bool (*read)(cbor_reader&, void* object);
  void (*reset)(void* object); ///< null: the member must be present
};

enum class cbor_kind : unsigned char {
  unsigned_integer,
  negative_integer,
  number,
  boolean,
  null,
  undefined,
  text,
  text_chunks,
  bytes,
  byte_chunks,
  array,
  open_array,
  map,
  open_map,
  tag,
  end_mark,
};

/// The head of a data item; of a string of definite length, its bytes too.
struct cbor_head {
  cbor_kind kind = cbor_kind::null;
  std::uint64_t value = 0; ///< of integers (n of -1 - n) and booleans; how many elements or pairs follow
  double number = 0;
  std::string_view text;
};

/// A text that lies in the document or, if it came in chunks, in `chunks`.
struct cbor_text {
  std::string_view text;
  std::string chunks;
};

/// What is left of an array or a map.
struct cbor_run {
  std::uint64_t left = 0;
  bool open = false; ///< of indefinite length: until an end mark
};

/// A cursor over one CBOR document; libcbor takes the heads apart. Readers answer false after a failure; the first
/// failure is kept.
class cbor_reader {
 public:
  explicit cbor_reader(bytes_view document) noexcept : document_(document) {}

  bool read_bool(bool& out);
  template <std::integral Integer> bool read_integer(Integer& out) {
    using limits = std::numeric_limits<Integer>;
    constexpr auto most = static_cast<std::uint64_t>(limits::max());
    std::uint64_t bits;
    if (!read_integer_bits(bits, most, limits::min() != 0)) return false;
    out = static_cast<Integer>(bits);
    return true;
  }
  bool read_number(double& out);
  bool read_number(float& out);
  bool read_text(std::string& out);
  bool read_text(cbor_text& out);
  /// The index of the name that the document has.
  bool read_enumerator(std::span<const std::string_view> names, std::size_t& index);
  /// Consumes null and undefined; `found` says whether there was one. False if the document ends or is malformed.
  bool read_null(bool& found);

  bool read_struct(void* object, std::span<const cbor_member> members);
  bool open_array(cbor_run& run);
  bool open_map(cbor_run& run);
  json_step next(cbor_run& run);

  /// Nothing may follow.
  bool finish() { return at_ == document_.size() || fail("trailing bytes after the document"); }

  [[gnu::cold]] bool fail(const char* what);
  [[gnu::cold]] bool within(std::string_view member);
  [[gnu::cold]] bool within(std::size_t index);
  [[gnu::cold]] [[nodiscard]] error failure() const;

 private:
  /// Looks at the next head, behind its tags. `take` consumes it.
  bool peek();
  void take() noexcept {
    at_ = after_;
    peeked_ = false;
  }
  bool decode_head(std::size_t at);
  bool read_integer_bits(std::uint64_t& bits, std::uint64_t most, bool is_signed);
  bool read_chunks(std::string& out);
  bool open(cbor_run& run, cbor_kind definite, cbor_kind indefinite, const char* expected);
  bool read_pair(void* object, std::span<const cbor_member> members, std::uint64_t& seen, std::size_t& next);
  bool reset_absent(void* object, std::span<const cbor_member> members, std::uint64_t seen);
  bool skip_value();
  bool skip_chunks(cbor_kind kind);
  bool skip_run(cbor_run run, unsigned items);
  [[gnu::cold]] bool wrong_type(const char* expected);

  bytes_view document_;
  std::size_t at_ = 0;
  std::size_t after_ = 0; ///< the end of `head_`
  cbor_head head_;
  bool peeked_ = false;
  unsigned depth_ = 0;
  std::size_t where_ = 0;
  const char* what_ = nullptr;
  const char* found_ = nullptr; ///< what stood in the place of `what_`
  std::string path_;
};

} // namespace millrace::detail
