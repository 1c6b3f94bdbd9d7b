#include <millrace/context.hpp>
#include <millrace/handler.hpp>

namespace millrace {

header_map& context::edit_headers() {
  if (!edited_) edited_ = std::make_unique<header_map>(message_->headers());
  return *edited_;
}

void context::append(std::unique_ptr<detail::settled_hook> hook) noexcept {
  std::unique_ptr<detail::settled_hook>* end = &hooks_;
  while (*end)
    end = &(*end)->next;
  *end = std::move(hook);
}

const detail::bound_output& context::output(const void* tag) const noexcept {
  for (const auto& bound : *outputs_) {
    if (bound.tag == tag) return bound;
  }
  std::unreachable(); // a missing binding is refused before the start
}

error detail::handler_error(std::string text) { return {errc::handler, std::move(text)}; }

} // namespace millrace
