#pragma once

#include "failure.hpp"
#include "stage.hpp"

#include <deque>
#include <memory>
#include <mutex>

namespace millrace::testing::conformance {

/// One call of a handler.
struct handled {
  std::string payload;
  header_map headers;
  std::uint32_t attempt = 0;
  std::size_t call = 0; ///< of this recorder, from 1
  time_point at;
};

/// What the handlers of a service saw, in order. Handlers share it: it may have to outlive its check.
class recorder {
 public:
  explicit recorder(runtime& rt) : arrived_(rt), runtime_(&rt) {}

  /// A handler that records its calls, and answers what `answer` makes of them.
  template <class Answer> static raw_handler handler(std::shared_ptr<recorder> to, Answer answer) {
    return [to = std::move(to), answer](bytes_view payload, context& ctx) { return answer(to->record(payload, ctx)); };
  }

  handled record(bytes_view payload, const context& ctx);
  task<handled> next(duration bound);
  /// Fails if there is, or comes, another call.
  task<void> nothing(duration bound, std::string what);

 private:
  std::mutex mutex_;
  std::deque<handled> calls_;
  std::size_t count_ = 0;
  event arrived_;
  runtime* runtime_;
};

} // namespace millrace::testing::conformance
