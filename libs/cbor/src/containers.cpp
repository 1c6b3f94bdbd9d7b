#include <millrace/cbor/detail/reader.hpp>

namespace millrace::detail {

bool cbor_reader::open(cbor_run& run, cbor_kind definite, cbor_kind indefinite, const char* expected) {
  if (!peek()) return false;
  run.open = head_.kind == indefinite;
  if (!run.open && head_.kind != definite) return wrong_type(expected);
  if (depth_ == json_depth_limit) return fail("nested too deep");
  run.left = head_.value;
  ++depth_;
  take();
  return true;
}

bool cbor_reader::open_array(cbor_run& run) { return open(run, cbor_kind::array, cbor_kind::open_array, "an array"); }
bool cbor_reader::open_map(cbor_run& run) { return open(run, cbor_kind::map, cbor_kind::open_map, "a map"); }

json_step cbor_reader::next(cbor_run& run) {
  if (!run.open) {
    if (run.left-- != 0) return json_step::item;
  } else {
    if (!peek()) return json_step::failed;
    if (head_.kind != cbor_kind::end_mark) return json_step::item;
    take();
  }
  --depth_;
  return json_step::end;
}

bool cbor_reader::read_struct(void* object, std::span<const cbor_member> members) {
  cbor_run run;
  if (!open_map(run)) return false;
  std::uint64_t seen = 0;
  std::size_t next_member = 0;
  auto step = next(run);
  for (; step == json_step::item; step = next(run)) {
    if (!read_pair(object, members, seen, next_member)) return false;
  }
  return step == json_step::end && reset_absent(object, members, seen);
}

/// Members usually come in the order of the struct, so the search starts at `next`.
bool cbor_reader::read_pair(void* object, std::span<const cbor_member> members, std::uint64_t& seen,
                            std::size_t& next) {
  if (!peek()) return false;
  if (head_.kind != cbor_kind::text && head_.kind != cbor_kind::text_chunks) return skip_value() && skip_value();
  cbor_text key;
  if (!read_text(key)) return false;
  for (std::size_t tried = 0; tried != members.size(); ++tried, ++next) {
    if (next == members.size()) next = 0;
    if (members[next].name != key.text) continue;
    const auto& member = members[next];
    if (!member.read(*this, object)) return within(member.name);
    seen |= std::uint64_t{1} << next++;
    return true;
  }
  return skip_value() || within(key.text);
}

bool cbor_reader::reset_absent(void* object, std::span<const cbor_member> members, std::uint64_t seen) {
  for (std::size_t i = 0; i != members.size(); ++i) {
    if ((seen >> i & 1) != 0) continue;
    if (members[i].reset == nullptr) return fail("missing"), within(members[i].name);
    members[i].reset(object);
  }
  return true;
}

bool cbor_reader::skip_value() {
  if (!peek()) return false;
  const auto kind = head_.kind;
  cbor_run run;
  switch (kind) {
  case cbor_kind::end_mark:
    return wrong_type("a value");
  case cbor_kind::text_chunks:
  case cbor_kind::byte_chunks:
    return skip_chunks(kind == cbor_kind::text_chunks ? cbor_kind::text : cbor_kind::bytes);
  case cbor_kind::array:
  case cbor_kind::open_array:
    return open_array(run) && skip_run(run, 1);
  case cbor_kind::map:
  case cbor_kind::open_map:
    return open_map(run) && skip_run(run, 2);
  default:
    take();
    return true;
  }
}

bool cbor_reader::skip_run(cbor_run run, unsigned items) {
  auto step = next(run);
  for (; step == json_step::item; step = next(run)) {
    for (unsigned i = 0; i != items; ++i) {
      if (!skip_value()) return false;
    }
  }
  return step == json_step::end;
}

bool cbor_reader::skip_chunks(cbor_kind kind) {
  take();
  for (;;) {
    if (!decode_head(at_)) return false;
    if (head_.kind != cbor_kind::end_mark && head_.kind != kind) return wrong_type("a piece of the string");
    take();
    if (head_.kind == cbor_kind::end_mark) return true;
  }
}

} // namespace millrace::detail
