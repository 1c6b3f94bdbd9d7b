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

/// How one member of a described struct is found and read. `key` is `"name":` with its first and last eight bytes as
/// words.
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
    for (std::size_t i = 0; i != std::min<std::size_t>(8, text.size()); ++i)
      bytes[i] = as_mask ? '\xff' : text[i];
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

/// Whether a fraction or an exponent follows the digits of a number.
[[nodiscard]] constexpr bool json_number_goes_on(char c) noexcept { return c == '.' || c == 'e' || c == 'E'; }

/// A key of the document: as it is written there, and what it means. `text` lasts until the next read.
struct json_key {
  std::string_view raw;
  std::string_view text;
};

enum class json_step { item, end, failed };

/// Where reading a struct in order stopped.
enum class json_progress { at_key, after_value, done, failed };

/// A cursor over one JSON document. Everything that does not depend on the type of the value lives here, out of line.
/// Readers answer false after a failure; the first failure is kept.
class json_reader {
 public:
  explicit json_reader(bytes_view document) noexcept
      : begin_(reinterpret_cast<const char*>(document.data())), pos_(begin_), end_(begin_ + document.size()) {}

  bool read_bool(bool& out);
  template <std::integral Integer> bool read_integer(Integer& out) {
    using limits = std::numeric_limits<Integer>;
    constexpr auto most = static_cast<std::uint64_t>(limits::max());
    std::uint64_t bits;
    if (!read_plain_integer(bits, most)) [[unlikely]] {
      if (!read_any_integer(bits, most, limits::min() == 0 ? 0 : most + 1)) return false;
    }
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

  /// The four steps of reading a described struct whose document is compact, complete and in order. `take` skips no
  /// whitespace and answers false without failing; `read_rest` then reads any document, from wherever the cursor
  /// stands.
  bool open_struct();
  [[gnu::always_inline]] bool take(const json_member_reader& member) {
    if (!member.matches(pos_, static_cast<std::size_t>(end_ - pos_))) [[unlikely]]
      return take_after_space(member);
    pos_ += member.size;
    return true;
  }
  [[gnu::always_inline]] bool take(char c) {
    if (pos_ == end_ || *pos_ != c) [[unlikely]]
      return false;
    ++pos_;
    return true;
  }
  void close_struct() noexcept { --depth_; }
  /// `next` members of the struct were read, and either the last value or its comma.
  bool read_rest(void* object, const json_object_reader& layout, unsigned next, json_progress progress);

  json_step open_array();
  json_step next_element();
  json_step open_members();
  json_step next_member();
  bool read_key(json_key& key);

  /// Only whitespace may follow.
  bool finish() { return pos_ == end_ || finish_after_space(); }

  [[gnu::cold]] bool fail(const char* what);
  [[gnu::cold]] bool fail_at(const char* where, const char* what);
  [[gnu::cold]] bool within(std::string_view member);
  [[gnu::cold]] bool within(std::size_t index);
  [[gnu::cold]] [[nodiscard]] error failure() const;

 private:
  /// The first byte after whitespace, or 0 at the end.
  char peek() noexcept {
    if (pos_ != end_ && static_cast<unsigned char>(*pos_) > ' ') [[likely]]
      return *pos_;
    return peek_after_space();
  }
  [[gnu::noinline]] char peek_after_space() noexcept;
  bool finish_after_space();
  bool enter();
  json_step open(char opening, char closing, const char* expected);
  json_step next(char closing, const char* expected);
  bool find_member(const json_object_reader& layout, unsigned from, unsigned& index, json_key& key);
  bool take_after_space(const json_member_reader& member);
  json_step resume(unsigned next, json_progress progress);
  bool reset_absent(void* object, const json_object_reader& layout, std::uint64_t absent);

  /// Up to 19 digits without a sign, which is what most integers are. False, without failing, for anything else.
  [[gnu::always_inline]] bool read_plain_integer(std::uint64_t& value, std::uint64_t most) noexcept {
    const char* const first = pos_;
    const std::size_t limit = std::min<std::size_t>(20, static_cast<std::size_t>(end_ - first));
    std::size_t count = 0;
    for (value = 0; count != limit; ++count) {
      const std::uint64_t digit = static_cast<unsigned char>(first[count]) - std::uint64_t{'0'};
      if (digit > 9) break;
      value = value * 10 + digit;
    }
    if (count == 0 || count == limit || *first == '0' || value > most) return false;
    const char next = first[count];
    if (next != ',' && next != '}' && json_number_goes_on(next)) return false;
    pos_ = first + count;
    return true;
  }
  /// The two's complement of an integer up to `most`, or down to minus `least`.
  bool read_any_integer(std::uint64_t& bits, std::uint64_t most, std::uint64_t least);
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
  [[gnu::cold]] bool missing(const char* what);

  const char* begin_;
  const char* pos_;
  const char* end_;
  unsigned depth_ = 0;
  const char* where_ = nullptr;
  const char* what_ = nullptr;
  const char* found_ = nullptr; ///< what stood in the place of `what_`
  std::string text_;            ///< an escaped key or, after a failure, the path to it
};

} // namespace millrace::detail
