#include "transport/in_process/time_text.hpp"

#include <chrono>
#include <cstdio>

namespace millrace::nats::detail::in_process {
namespace {

using std::chrono::nanoseconds;

/// Takes `width` digits from the front.
bool take_number(std::string_view& text, std::size_t width, int& into) noexcept {
  if (text.size() < width) return false;
  into = 0;
  for (const char c : text.substr(0, width)) {
    if (c < '0' || c > '9') return false;
    into = into * 10 + (c - '0');
  }
  text.remove_prefix(width);
  return true;
}

bool take(std::string_view& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_fraction(std::string_view& text, nanoseconds& into) noexcept {
  if (!take(text, '.')) return true;
  const std::string_view before = text;
  for (std::int64_t unit = 100'000'000; !text.empty() && text[0] >= '0' && text[0] <= '9'; unit /= 10) {
    into += nanoseconds((text[0] - '0') * unit);
    text.remove_prefix(1);
  }
  return text.size() < before.size();
}

/// `Z`, `+02:00`
bool take_zone(std::string_view& text, std::chrono::minutes& into) noexcept {
  if (take(text, 'Z')) return true;
  const bool west = text.starts_with('-');
  if (!west && !text.starts_with('+')) return false;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!take_number(text, 2, hours) || !take(text, ':') || !take_number(text, 2, minutes)) return false;
  into = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  if (west) into = -into;
  return true;
}

} // namespace

std::string format_time(std::int64_t unix_nanoseconds) {
  const std::chrono::sys_time<nanoseconds> at{nanoseconds(unix_nanoseconds)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  char text[64];
  const int size =
      std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%09dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                    static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return {text, static_cast<std::size_t>(size)};
}

std::optional<std::int64_t> parse_time(std::string_view text) noexcept {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  nanoseconds fraction{0};
  std::chrono::minutes zone{0};
  const bool read = take_number(text, 4, year) && take(text, '-') && take_number(text, 2, month) && take(text, '-') &&
                    take_number(text, 2, day) && take(text, 'T') && take_number(text, 2, hour) && take(text, ':') &&
                    take_number(text, 2, minute) && take(text, ':') && take_number(text, 2, second) &&
                    take_fraction(text, fraction) && take_zone(text, zone) && text.empty();
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!read || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto midnight = std::chrono::sys_days(date).time_since_epoch();
  const auto since = std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second) - zone;
  return (nanoseconds(midnight) + since + fraction).count();
}

} // namespace millrace::nats::detail::in_process
