#include <millrace/codec/detail/json_reader.hpp>

#include <charconv>
#include <cmath>

namespace millrace::detail {
namespace {

constexpr const char* out_of_range = "number out of range";
constexpr const char* malformed = "malformed number";

bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') <= 9; }

const char* skip_digits(const char* at, const char* end) noexcept {
  while (at != end && is_digit(*at))
    ++at;
  return at;
}

/// Whether the magnitude of a well-formed number is below one, however large its exponent is.
bool is_below_one(const char* at, const char* end) noexcept {
  if (*at == '-') ++at;
  const char* const point = skip_digits(at, end);
  long magnitude = *at == '0' ? 0 : point - at;
  const char* mark = point;
  if (mark != end && *mark == '.') {
    const char* const fraction = ++mark;
    while (magnitude == 0 && mark != end && *mark == '0')
      ++mark;
    if (*at == '0') magnitude = fraction - mark;
    mark = skip_digits(mark, end);
  }
  if (mark == end) return magnitude <= 0;
  const bool negative = *++mark == '-';
  if (*mark == '-' || *mark == '+') ++mark;
  long exponent = 0;
  for (; mark != end && exponent < 1'000'000'000; ++mark)
    exponent = exponent * 10 + (*mark - '0');
  return magnitude + (negative ? -exponent : exponent) <= 0;
}

} // namespace

/// The end of the number that starts there, or null after a failure.
const char* json_reader::number_end(const char* start) {
  const char* at = start;
  const auto digits = [&] {
    const char* const first = at;
    at = skip_digits(at, end_);
    return at != first;
  };
  const auto refuse = [&] { return fail_at(start, at == end_ ? "truncated input" : malformed), nullptr; };
  if (*at == '-') ++at;
  const char* const whole = at;
  if (!digits()) return refuse();
  if (*whole == '0' && at - whole > 1) return fail_at(start, malformed), nullptr;
  if (at != end_ && *at == '.') {
    ++at;
    if (!digits()) return refuse();
  }
  if (at != end_ && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end_ && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return refuse();
  }
  return at;
}

bool json_reader::read_any_integer(std::uint64_t& bits, std::uint64_t most, std::uint64_t least) {
  const bool negative = peek() == '-';
  const char* const start = pos_;
  const char* const first = pos_ + (negative ? 1 : 0);
  const char* at = first;
  std::uint64_t value = 0;
  for (; at != end_ && is_digit(*at); ++at)
    value = value * 10 + static_cast<unsigned char>(*at - '0');
  const auto count = at - first;
  if (count == 0 || (*first == '0' && count > 1)) [[unlikely]]
    return not_an_integer(start);
  if (at != end_ && json_number_goes_on(*at)) [[unlikely]]
    return not_an_integer(start);
  if (count > 19) [[unlikely]] {
    if (std::from_chars(first, at, value).ec != std::errc{}) return fail_at(start, out_of_range);
  }
  if (value > (negative ? least : most)) [[unlikely]]
    return fail_at(start, out_of_range);
  bits = negative ? ~value + 1 : value;
  pos_ = at;
  return true;
}

bool json_reader::not_an_integer(const char* start) {
  if (start == end_ || (*start != '-' && !is_digit(*start))) return wrong_type("an integer");
  if (number_end(start) == nullptr) return false;
  return fail_at(start, "number out of range: not an integer");
}

template <class Float> bool json_reader::read_float(Float& out) {
  const char first = peek();
  if (first != '-' && !is_digit(first)) [[unlikely]]
    return wrong_type("a number");
  const char* const end = number_end(pos_);
  if (end == nullptr) return false;
  const auto parsed = std::from_chars(pos_, end, out);
  if (parsed.ec == std::errc::result_out_of_range) [[unlikely]] {
    if (!is_below_one(pos_, end)) return fail_at(pos_, out_of_range);
    out = *pos_ == '-' ? -Float{0} : Float{0};
  } else if (!std::isfinite(out)) [[unlikely]] {
    return fail_at(pos_, out_of_range);
  }
  pos_ = end;
  return true;
}

bool json_reader::read_number(double& out) { return read_float(out); }
bool json_reader::read_number(float& out) { return read_float(out); }

} // namespace millrace::detail
