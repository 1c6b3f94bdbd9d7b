#include "transport/libnats/libnats_message.hpp"

#include "protocol/header_block.hpp"
#include "transport/libnats/libnats_status.hpp"

#include <cstring>
#include <limits>

namespace millrace::nats::detail {
namespace {

// The client parses headers into a hash table: it loses their order, takes an empty value for the next line, and
// allocates. Its message is one block, though: subject, reply, header block and payload, each ended by a NUL. So the
// block is read where it lies, in the versions in which this is so; in any other the client's table is asked.
constexpr std::uint32_t first_known_layout = 0x030000;
constexpr std::uint32_t last_known_layout = 0x030401;

bool layout_is_known() noexcept {
  static const bool known = [] {
    const auto version = static_cast<std::uint32_t>(nats_GetVersionNumber());
    return version >= first_known_layout && version <= last_known_layout;
  }();
  return known;
}

/// Between the last NUL-terminated part and the payload, without the NUL that ends it.
std::string_view header_block(natsMsg* message) noexcept {
  const char* last = natsMsg_GetReply(message);
  if (last == nullptr) last = natsMsg_GetSubject(message);
  const char* const begin = last + std::strlen(last) + 1;
  const char* const end = natsMsg_GetData(message);
  if (end <= begin + 1) return {};
  return {begin, static_cast<std::size_t>(end - 1 - begin)};
}

/// What every object begins with that the client frees on a thread of its own (its gc.h).
struct collected {
  collected* next;
  void (*free)(void* self);
};

/// On this thread: the client's own is woken for a message, frees it and goes to sleep again, which costs several times
/// what the message costs.
void free_here(natsMsg* message) noexcept {
  auto* const item = reinterpret_cast<collected*>(message);
  if (layout_is_known() && item->free != nullptr) return item->free(message);
  natsMsg_Destroy(message);
}

void load_from_table(natsMsg* message, header_map& into) {
  const char** keys = nullptr;
  int count = 0;
  if (natsMsgHeader_Keys(message, &keys, &count) != NATS_OK) return;
  for (int i = 0; i < count; ++i) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(message, keys[i], &value) == NATS_OK) into.add(keys[i], value);
  }
  std::free(static_cast<void*>(keys));
}

std::string_view get_from_table(natsMsg* message, const char* name) noexcept {
  const char* value = nullptr;
  return natsMsgHeader_Get(message, name, &value) == NATS_OK ? value : std::string_view{};
}

constexpr message_ops ops{
    .load_headers =
        [](void* message, header_map& into) {
          auto* const m = static_cast<natsMsg*>(message);
          if (layout_is_known())
            parse_header_block(header_block(m), into);
          else
            load_from_table(m, into);
        },
    .header = [](void* message, const char* name) -> std::string_view {
      auto* const m = static_cast<natsMsg*>(message);
      return layout_is_known() ? find_in_header_block(header_block(m), name) : get_from_table(m, name);
    },
    .free = [](void* message) noexcept { free_here(static_cast<natsMsg*>(message)); },
    .text_ends_in_nul = true,
};

bool has_table(natsMsg* message) noexcept {
  const char** keys = nullptr;
  int count = 0;
  if (natsMsgHeader_Keys(message, &keys, &count) != NATS_OK) return false;
  std::free(static_cast<void*>(keys));
  return true;
}

} // namespace

received make_received(natsMsg* message) noexcept {
  const char* const subject = natsMsg_GetSubject(message);
  const char* const reply = natsMsg_GetReply(message);
  const char* const data = natsMsg_GetData(message);
  const std::string_view subject_view(subject);
  const std::string_view reply_view = reply == nullptr ? std::string_view{} : std::string_view(reply);
  const char* const end = reply == nullptr ? subject + subject_view.size() : reply + reply_view.size();
  const bool headers = layout_is_known() ? data > end + 1 : has_table(message);
  const auto size = static_cast<std::size_t>(natsMsg_GetDataLength(message));
  return received(subject_view, reply_view, {reinterpret_cast<const std::byte*>(data), size}, headers, message, ops);
}

result<message_handle> make_natsmsg(const wire_message& m) {
  if (m.payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return fail(errc::publish, "subject '" + std::string(m.subject) + "': the payload is over every limit");
  const std::string subject(m.subject);
  const std::string reply(m.reply);
  natsMsg* raw = nullptr;
  natsStatus status =
      natsMsg_Create(&raw, subject.c_str(), reply.empty() ? nullptr : reply.c_str(),
                     reinterpret_cast<const char*>(m.payload.data()), static_cast<int>(m.payload.size()));
  message_handle made(raw);
  std::string name;
  std::string value;
  for (const header_map::entry header : *m.headers) {
    if (status != NATS_OK) break;
    name.assign(header.name);
    value.assign(header.value);
    status = natsMsgHeader_Set(raw, name.c_str(), value.c_str());
  }
  if (status != NATS_OK) return fail(status_error(status, errc::publish, "subject '" + subject + "'"));
  return made;
}

} // namespace millrace::nats::detail
