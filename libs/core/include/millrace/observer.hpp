#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>
#include <millrace/headers.hpp>
#include <millrace/outcome.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace {

/// How one message went, told after its settlement. Everything is lent for the call.
struct handled_event {
  enum class failure : std::uint8_t { none, decode, exception, cancelled };
  std::string_view broker;
  std::string_view subscription;
  std::string_view subject;
  bytes_view payload;
  const header_map* headers = nullptr;
  std::uint32_t attempt = 1;
  failure failed = failure::none;
  std::optional<settlement> settled; ///< what the handler or the policy chose; nothing: left unsettled
  std::string_view failure_text;
  std::uint64_t call = 0;     ///< numbers the calls of the subscription's handler; the messages of a batch share it
  std::size_t batch_size = 1; ///< how many share it
};

/// One message that left through a publisher, a reply or a copy, told when it is handed to the broker.
struct published_event {
  std::string_view broker;
  std::string_view destination;
  bytes_view payload;
  const header_map* headers = nullptr;
  std::string_view output; ///< the marker's name, if a handler published it through an `out<Marker>`
};

/// Sees everything a service does; the test harness records with it. Called from any thread.
class observer {
 public:
  virtual void handled(const handled_event& event) noexcept = 0;
  virtual void published(const published_event& event) noexcept = 0;

 protected:
  ~observer() = default;
};

} // namespace millrace
