#include "protocol/ack.hpp"

#include <charconv>
#include <cstring>

namespace millrace::nats::detail {
namespace {

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
  if (!subject.starts_with("$JS.ACK.")) return 0;
  if (t.size >= long_form) return 4;
  return t.size == short_form ? 2 : 0;
}

} // namespace

std::optional<message_identity> identify(std::string_view subject) noexcept {
  const tokens t = split(subject);
  const std::size_t at = find_stream(subject, t);
  message_identity out;
  if (at == 0 || !read(t.at[at + 3], out.stream_sequence) || !read(t.at[at + 5], out.stored_at)) return std::nullopt;
  return out;
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
