#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/detail/json_path.hpp>
#include <millrace/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace millrace::detail {

/// Arrays and objects may nest this deep, in what is read, in what is ignored and in what is written.
inline constexpr unsigned json_depth_limit = 64;

class json_reader;

/// How one member of a described struct is found and read. `key` is `"name":` with its first and last eight bytes as words.
struct json_member_reader {
  const char* key;
  std::uint32_t size;
  std::uint32_t window; ///< bytes that must be left for `matches` to look
  std::uint64_t mask;
  std::uint64_t head;
  std::uint64_t tail;
  bool (*read)(json_reader&, void* object);
  void (*reset)(void* object); ///< null: the member must be present

  constexpr json_member_reader(std::string_view quoted, bool (*read)(json_reader&, void*), void (*reset)(void*))
      : key(quoted.data()), size(static_cast<std::uint32_t>(quoted.size())), window(std::max(size, 8U)),
        mask(word(quoted, true)), head(word(quoted, false)),
        tail(word(quoted.size() < 8 ? quoted : quoted.substr(quoted.size() - 8), false)), read(read), reset(reset) {}

  [[nodiscard]] constexpr std::string_view name() const noexcept { return {key + 1, size - 3}; }

  [[nodiscard]] bool matches(const char* at, std::size_t left) const noexcept {
    if (left < window || (load(at) & mask) != head) return false;
    if (size <= 8) return true;
    return load(at + size - 8) == tail && (size <= 16 || std::memcmp(at + 8, key + 8, size - 16) == 0);
  }

 private:
  static constexpr std::uint64_t word(std::string_view text, bool as_mask) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i != std::min<std::size_t>(8, text.size()); ++i) bytes[i] = as_mask ? '\xff' : text[i];
    return std::bit_cast<std::uint64_t>(bytes);
  }
  static std::uint64_t load(const char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
  }
};

/// A described struct as the reader sees it.
struct json_object_reader {
  const json_member_reader* members;
  unsigned count;
  std::uint64_t all; ///< one bit for each member
};

/// A key of the document: as it is written there, and what it means. `text` lasts until the next read.
struct json_key {
  std::string_view raw;
  std::string_view text;
};

enum class json_step { item, end, failed };

/// A cursor over one JSON document. Everything that does not depend on the type of the value lives here, out of line.
/// Readers answer false after a failure; the first failure is kept.
class json_reader {
 public:
  explicit json_reader(bytes_view document) noexcept
      : begin_(reinterpret_cast<const char*>(document.data())), pos_(begin_), end_(begin_ + document.size()) {}

  bool read_bool(bool& out);
  template <std::integral Integer> bool read_integer(Integer& out) {
    using limits = std::numeric_limits<Integer>;
    constexpr auto negative = limits::min() == 0 ? 0 : static_cast<std::uint64_t>(limits::max()) + 1;
    std::uint64_t bits; // two's complement
    if (!read_integer_bits(bits, limits::max(), negative)) return false;
    out = static_cast<Integer>(bits);
    return true;
  }
  bool read_number(double& out);
  bool read_number(float& out);
  bool read_text(std::string& out);
  /// The index of the name that the document has.
  bool read_enumerator(std::span<const std::string_view> names, std::size_t& index);
  /// Consumes a null; false, without failing, if the next value is something else.
  bool read_null() noexcept;
  bool read_object(void* object, const json_object_reader& layout);

  json_step open_array();
  json_step next_element();
  json_step open_members();
  json_step next_member();
  bool read_key(json_key& key);

  /// Only whitespace may follow.
  bool finish();

  [[gnu::cold]] bool fail(const char* what);
  [[gnu::cold]] bool fail_at(const char* where, const char* what);
  [[gnu::cold]] bool within(std::string_view member);
  [[gnu::cold]] bool within(std::size_t index);
  [[gnu::cold]] [[nodiscard]] error failure() const;

 private:
  /// The first byte after whitespace, or 0 at the end.
  char peek() noexcept {
    if (pos_ != end_ && static_cast<unsigned char>(*pos_) > ' ') [[likely]] return *pos_;
    return peek_after_space();
  }
  char peek_after_space() noexcept;
  bool enter();
  bool open_object(bool& empty);
  json_step open(char opening, char closing, const char* expected);
  json_step next(char closing, const char* expected);
  bool find_member(const json_object_reader& layout, unsigned from, unsigned& index, json_key& key);
  bool read_members(void* object, const json_object_reader& layout, std::uint64_t& seen);
  bool reset_absent(void* object, const json_object_reader& layout, std::uint64_t absent);

  bool read_integer_bits(std::uint64_t& bits, std::uint64_t most, std::uint64_t least);
  [[gnu::cold]] bool not_an_integer(const char* start);
  const char* number_end(const char* start);
  template <class Float> bool read_float(Float& out);

  bool read_text_view(std::string_view& text, json_key* key);
  const char* text_run(const char* from);
  const char* read_escape(const char* backslash, char (&bytes)[4], std::size_t& size);
  bool read_escaped_text(const char* first, const char* escape, std::string& out);
  bool read_code_unit(const char* at, std::uint32_t& unit);
  bool skip_text();
  bool skip_value();
  bool skip_array();
  bool skip_object();
  bool skip_literal(std::string_view word);

  [[gnu::cold]] bool wrong_type(const char* expected);
  [[gnu::cold]] bool expected(const char* what);

  const char* begin_;
  const char* pos_;
  const char* end_;
  unsigned depth_ = 0;
  const char* where_ = nullptr;
  std::string what_;
  json_path path_;
  std::string scratch_;
};

} // namespace millrace::detail
