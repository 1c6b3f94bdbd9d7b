#include <millrace/publisher.hpp>

#include <array>

namespace millrace::detail {
namespace {

constexpr std::size_t kept_buffers = 16;
constexpr std::size_t largest_kept = 1024 * 1024;

struct buffer_stack {
  std::array<byte_buffer, kept_buffers> buffers;
  std::size_t count = 0;
};
thread_local buffer_stack free_buffers;

} // namespace

byte_buffer& pooled_buffer::take() {
  if (!taken_ && free_buffers.count > 0) text_ = std::move(free_buffers.buffers[--free_buffers.count]);
  taken_ = true;
  text_.clear();
  return text_;
}

pooled_buffer::~pooled_buffer() {
  if (!taken_ || free_buffers.count == kept_buffers || text_.capacity() > largest_kept) return;
  free_buffers.buffers[free_buffers.count++] = std::move(text_);
}

namespace {

void tell(const publish_cell& cell, const outgoing& message) noexcept {
  observer* watcher = cell.watcher.load(std::memory_order_relaxed);
  if (watcher != nullptr) watcher->published({cell.broker, message.destination, message.payload, message.headers});
}

} // namespace

void publish_cell::publish(const outgoing& message, publish_operation& op) noexcept {
  publish_port* to = live.load(std::memory_order_acquire);
  if (to == nullptr) {
    return op.complete_now(fail(errc::not_connected, "publish to '" + std::string(message.destination) + "'"));
  }
  tell(*this, message);
  to->publish(message, op);
}

task<result<reply_message>> publish_cell::request(outgoing message, duration timeout) {
  publish_port* to = live.load(std::memory_order_acquire);
  if (to == nullptr) co_return fail(errc::not_connected, "request to '" + std::string(message.destination) + "'");
  tell(*this, message);
  co_return co_await to->request(message, timeout);
}

} // namespace millrace::detail
