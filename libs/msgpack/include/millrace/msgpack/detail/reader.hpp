#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace millrace::detail {

class msgpack_reader;

/// How one member of a described struct is read.
struct msgpack_member {
  std::string_view name;
  bool (*read)(msgpack_reader&, void* object);
  void (*reset)(void* object); ///< null: the member must be present
};

enum class msgpack_kind : unsigned char {
  nil,
  boolean,
  unsigned_integer,
  negative_integer,
  number,
  text,
  bytes,
  extension,
  array,
  map,
};

/// The head of a value; of a text, its characters too.
struct msgpack_head {
  msgpack_kind kind = msgpack_kind::nil;
  std::uint64_t value = 0; ///< of integers (n of -1 - n) and booleans; how many elements or pairs follow
  double number = 0;
  std::string_view text;
};

/// A cursor over one MessagePack document. Readers answer false after a failure; the first failure is kept.
class msgpack_reader {
 public:
  explicit msgpack_reader(bytes_view document) noexcept : document_(document) {}

  bool read_bool(bool& out);
  template <std::integral Integer> bool read_integer(Integer& out) {
    using limits = std::numeric_limits<Integer>;
    constexpr auto most = static_cast<std::uint64_t>(limits::max());
    std::uint64_t bits = 0;
    if (!read_integer_bits(bits, most, limits::min() != 0)) return false;
    out = static_cast<Integer>(bits);
    return true;
  }
  bool read_number(double& out);
  bool read_number(float& out);
  /// The text lies in the document.
  bool read_text(std::string_view& out);
  bool read_text(std::string& out);
  /// The index of the name that the document has.
  bool read_enumerator(std::span<const std::string_view> names, std::size_t& index);
  /// Consumes a nil if there is one.
  [[nodiscard]] bool take_nil() noexcept;

  bool read_struct(void* object, std::span<const msgpack_member> members);
  /// As many elements, or pairs, as the head promises must be read, and then `close` called.
  bool open_array(std::uint64_t& count) { return open(msgpack_kind::array, "an array", count); }
  bool open_map(std::uint64_t& count) { return open(msgpack_kind::map, "a map", count); }
  void close() noexcept { --depth_; }

  /// Nothing may follow.
  bool finish() { return at_ == document_.size() || fail("trailing bytes after the document"); }

  [[gnu::cold]] bool fail(const char* what);
  [[gnu::cold]] bool within(std::string_view member);
  [[gnu::cold]] bool within(std::size_t index);
  [[gnu::cold]] [[nodiscard]] error failure() const;

 private:
  /// Looks at the next head. `take` consumes it.
  bool peek();
  void take() noexcept { at_ = after_; }
  bool read_integer_bits(std::uint64_t& bits, std::uint64_t most, bool is_signed);
  bool open(msgpack_kind kind, const char* expected, std::uint64_t& count);
  bool enter(std::uint64_t& count);
  bool read_pair(void* object, std::span<const msgpack_member> members, std::uint64_t& seen, std::size_t& next);
  bool reset_absent(void* object, std::span<const msgpack_member> members, std::uint64_t seen);
  bool skip_value();
  [[gnu::cold]] bool wrong_type(const char* expected);

  bytes_view document_;
  std::size_t at_ = 0;
  std::size_t after_ = 0; ///< the end of `head_`
  msgpack_head head_;
  unsigned depth_ = 0;
  std::size_t where_ = 0;
  const char* what_ = nullptr;
  const char* found_ = nullptr; ///< what stood in the place of `what_`
  std::string path_;
};

} // namespace millrace::detail
