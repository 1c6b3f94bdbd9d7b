#include "protocol/ack.hpp"

#include <charconv>
#include <cstring>

namespace millrace::nats::detail {
namespace {

constexpr std::string_view ack_prefix = "$JS.ACK.";
constexpr std::size_t short_form = 9;
constexpr std::size_t long_form = 11;

struct tokens {
  std::array<std::string_view, 13> at;
  std::size_t size = 0;
};

tokens split(std::string_view subject) noexcept {
  tokens out;
  while (out.size < out.at.size()) {
    const std::size_t dot = subject.find('.');
    out.at[out.size++] = subject.substr(0, dot);
    if (dot == std::string_view::npos) break;
    subject.remove_prefix(dot + 1);
  }
  return out;
}

bool read(std::string_view text, std::uint64_t& out) noexcept {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), out);
  return fault == std::errc{} && end == text.data() + text.size();
}

/// Where the stream's name stands; 0: not an ack subject.
std::size_t find_stream(std::string_view subject, const tokens& t) noexcept {
  if (!subject.starts_with(ack_prefix)) return 0;
  if (t.size >= long_form) return 4;
  return t.size == short_form ? 2 : 0;
}

} // namespace

namespace {

constexpr std::size_t time_digits = 19; // until the year 2286; that tells the forms apart

const char* dot_before(const char* begin, const char* end) noexcept {
  return static_cast<const char*>(memrchr(begin, '.', static_cast<std::size_t>(end - begin)));
}

std::uint64_t eight(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Up to 19 digits, or nothing.
std::optional<std::uint64_t> read_short(const char* at, const char* end) noexcept {
  if (end - at < 1 || end - at > static_cast<std::ptrdiff_t>(time_digits)) return std::nullopt;
  std::uint64_t value = 0;
  for (; at != end; ++at) {
    const auto digit = static_cast<unsigned>(*at - '0');
    if (digit > 9) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

} // namespace

// From the end, since every settlement pays for it: `.<sequence>.<consumer sequence>.<time>.<pending>[.<token>]`.
std::optional<message_identity> identify(std::string_view subject) noexcept {
  constexpr std::size_t least = ack_prefix.size() + time_digits + 8;
  if (subject.size() < least || !subject.starts_with(ack_prefix)) return std::nullopt;
  const char* const begin =
      subject.data() + ack_prefix.size() - 1; // the dot before the stream: every search ends there
  const char* time_end = dot_before(begin, subject.data() + subject.size());
  const auto has_time_before = [&](const char* end) {
    return end - begin > static_cast<std::ptrdiff_t>(time_digits) &&
           end[-1 - static_cast<std::ptrdiff_t>(time_digits)] == '.';
  };
  if (!has_time_before(time_end)) time_end = dot_before(begin, time_end); // one token more behind the pending count
  if (time_end == nullptr || !has_time_before(time_end)) return std::nullopt;
  const char* const time = time_end - time_digits;
  const char* const consumer_dot = dot_before(begin, time - 1);
  const char* const sequence_dot = consumer_dot == nullptr ? nullptr : dot_before(begin, consumer_dot);
  if (sequence_dot == nullptr) return std::nullopt;
  const std::optional<std::uint64_t> sequence = read_short(sequence_dot + 1, consumer_dot);
  if (!sequence) return std::nullopt;
  // Only compared, never read as a number.
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  return message_identity{*sequence, eight(time + 11) ^ (eight(time + 3) * odd) ^ eight(time)};
}

std::optional<ack_subject> parse_ack_subject(std::string_view subject) noexcept {
  const tokens t = split(subject);
  const std::size_t at = find_stream(subject, t);
  if (at == 0) return std::nullopt;
  ack_subject out;
  out.stream = t.at[at];
  out.consumer = t.at[at + 1];
  std::uint64_t time = 0;
  if (!read(t.at[at + 2], out.delivered) || !read(t.at[at + 3], out.stream_sequence) ||
      !read(t.at[at + 4], out.consumer_sequence) || !read(t.at[at + 5], time) || !read(t.at[at + 6], out.pending))
    return std::nullopt;
  return out;
}

std::uint64_t delivered_count(std::string_view subject) noexcept {
  const std::optional<ack_subject> parsed = parse_ack_subject(subject);
  return parsed ? parsed->delivered : 0;
}

std::string_view ack_payload(settlement how, ack_storage& storage) noexcept {
  switch (how.kind) {
  case settlement_kind::ack:
    return "+ACK";
  case settlement_kind::retry:
    return "-NAK";
  case settlement_kind::drop:
    return "+TERM";
  case settlement_kind::retry_after:
    break;
  }
  const std::int64_t nanoseconds = how.delay.count();
  if (nanoseconds <= 0) return "-NAK"; // a zero delay is a plain retry; the server would take it for "unset"
  constexpr std::string_view head = R"(-NAK {"delay":)";
  std::memcpy(storage.data(), head.data(), head.size());
  char* const end = std::to_chars(storage.data() + head.size(), storage.data() + storage.size() - 1, nanoseconds).ptr;
  *end = '}';
  return {storage.data(), static_cast<std::size_t>(end + 1 - storage.data())};
}

} // namespace millrace::nats::detail
