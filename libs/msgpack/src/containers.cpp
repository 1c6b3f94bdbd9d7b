#include <millrace/msgpack/detail/reader.hpp>

#include <millrace/codec/detail/json_reader.hpp>

namespace millrace::detail {

bool msgpack_reader::open(msgpack_kind kind, const char* expected, std::uint64_t& count) {
  if (!peek()) return false;
  return head_.kind == kind ? enter(count) : wrong_type(expected);
}

bool msgpack_reader::enter(std::uint64_t& count) {
  if (depth_ == json_depth_limit) return fail("nested too deep");
  ++depth_;
  count = head_.value;
  take();
  return true;
}

bool msgpack_reader::read_struct(void* object, std::span<const msgpack_member> members) {
  std::uint64_t count = 0;
  if (!open_map(count)) return false;
  std::uint64_t seen = 0;
  std::size_t next = 0;
  for (; count != 0; --count) {
    if (!read_pair(object, members, seen, next)) return false;
  }
  close();
  return reset_absent(object, members, seen);
}

/// Members usually come in the order of the struct, so the search starts at `next`.
bool msgpack_reader::read_pair(void* object, std::span<const msgpack_member> members, std::uint64_t& seen,
                               std::size_t& next) {
  if (!peek()) return false;
  if (head_.kind != msgpack_kind::text) return skip_value() && skip_value();
  std::string_view key;
  if (!read_text(key)) return false;
  for (std::size_t tried = 0; tried != members.size(); ++tried, ++next) {
    if (next == members.size()) next = 0;
    if (members[next].name != key) continue;
    const auto& member = members[next];
    if (!member.read(*this, object)) return within(member.name);
    seen |= std::uint64_t{1} << next++;
    return true;
  }
  return skip_value() || within(key);
}

bool msgpack_reader::reset_absent(void* object, std::span<const msgpack_member> members, std::uint64_t seen) {
  for (std::size_t i = 0; i != members.size(); ++i) {
    if ((seen >> i & 1) != 0) continue;
    if (members[i].reset == nullptr) return fail("missing"), within(members[i].name);
    members[i].reset(object);
  }
  return true;
}

bool msgpack_reader::skip_value() {
  if (!peek()) return false;
  if (head_.kind != msgpack_kind::array && head_.kind != msgpack_kind::map) return take(), true;
  const unsigned values = head_.kind == msgpack_kind::map ? 2 : 1;
  std::uint64_t left = 0;
  if (!enter(left)) return false;
  for (left *= values; left != 0; --left) {
    if (!skip_value()) return false;
  }
  close();
  return true;
}

} // namespace millrace::detail
