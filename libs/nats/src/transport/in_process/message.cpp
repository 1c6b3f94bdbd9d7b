#include "transport/in_process/message.hpp"

#include "protocol/header_check.hpp"

namespace millrace::nats::detail::in_process {
namespace {

std::string_view trimmed(std::string_view value) noexcept {
  const std::size_t first = value.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return value.substr(first, value.find_last_not_of(" \t") - first + 1);
}

const envelope& held(void* message) noexcept { return *static_cast<const envelope*>(message); }

constexpr message_ops ops{
    .load_headers =
        [](void* message, header_map& into) {
          for (const auto [name, value] : held(message).content->headers)
            into.add(name, value);
        },
    .header = [](void* message, const char* name) { return exact_header(*held(message).content, name); },
    .free = [](void* message) noexcept { delete static_cast<envelope*>(message); },
};

} // namespace

message_ptr make_message(const wire_message& m) {
  auto made = std::make_shared<message>(message{std::string(m.subject), std::string(as_text(m.payload)), {}});
  // A header value loses the space around it on the wire.
  if (m.headers != nullptr)
    for (const auto [name, value] : *m.headers)
      made->headers.add(name, trimmed(value));
  return made;
}

message_ptr make_message(std::string_view subject, std::string_view payload) {
  return std::make_shared<const message>(message{std::string(subject), std::string(payload), {}});
}

message_ptr make_status(std::string_view subject, std::string_view code, std::string_view description,
                        std::initializer_list<header_map::entry> more) {
  auto made = std::make_shared<message>(message{std::string(subject), {}, {}});
  made->headers.add("Status", code);
  if (!description.empty()) made->headers.add("Description", description);
  for (const auto& [name, value] : more)
    made->headers.add(name, value);
  return made;
}

std::size_t wire_size(const wire_message& m) noexcept {
  std::size_t size = m.payload.size();
  if (m.headers == nullptr || m.headers->empty()) return size;
  size += header_block_size;
  for (const auto [name, value] : *m.headers)
    size += header_size(name, value);
  return size;
}

std::string_view exact_header(const message& m, std::string_view name) noexcept {
  for (const auto header : m.headers)
    if (header.name == name) return header.value;
  return {};
}

received to_received(envelope e) {
  auto* own = new envelope(std::move(e));
  const message& m = *own->content;
  return {m.subject, own->reply, as_bytes(m.payload), !m.headers.empty(), own, ops};
}

} // namespace millrace::nats::detail::in_process
