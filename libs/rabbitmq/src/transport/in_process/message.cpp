#include "transport/in_process/message.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace millrace::rabbitmq::detail::in_process {

namespace {

constexpr std::int64_t never = 1'000'000'000'000; ///< milliseconds; what is longer would not fit a time point

} // namespace

answer<void> read_properties(message& m) {
  m.priority = m.properties.octet(property::priority).value_or(0);
  m.expiration.reset();
  if (!m.properties.has(property::expiration)) return {};
  const std::string_view text = m.properties.text(property::expiration);
  std::int64_t ms = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), ms);
  std::string wrong;
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    wrong = "no_integer";
  else if (ms < 0)
    wrong = "{value_negative," + std::to_string(ms) + "}";
  if (!wrong.empty()) return refuse(406, "invalid expiration '" + std::string(text) + "': " + wrong);
  m.expiration = std::chrono::milliseconds(std::min(ms, never));
  return {};
}

} // namespace millrace::rabbitmq::detail::in_process
