#include <millrace/codec/detail/json_reader.hpp>

namespace millrace::detail {

char json_reader::peek_after_space() noexcept {
  for (; pos_ != end_; ++pos_) {
    if (*pos_ != ' ' && *pos_ != '\n' && *pos_ != '\r' && *pos_ != '\t') return *pos_;
  }
  return '\0';
}

bool json_reader::enter() {
  if (++depth_ > json_depth_limit) return fail("nested too deep");
  ++pos_;
  return true;
}

bool json_reader::read_null() noexcept {
  if (peek() != 'n' || end_ - pos_ < 4 || std::memcmp(pos_, "null", 4) != 0) return false;
  pos_ += 4;
  return true;
}

bool json_reader::read_bool(bool& out) {
  const char first = peek();
  if (first != 't' && first != 'f') return wrong_type("a boolean");
  out = first == 't';
  return skip_literal(out ? "true" : "false");
}

json_step json_reader::open(char opening, char closing, const char* expected) {
  if (peek() != opening) return wrong_type(expected), json_step::failed;
  if (!enter()) return json_step::failed;
  if (peek() != closing) return json_step::item;
  ++pos_;
  --depth_;
  return json_step::end;
}

json_step json_reader::next(char closing, const char* expected) {
  const char c = peek();
  if (c == ',') {
    ++pos_;
    return json_step::item;
  }
  if (c != closing) return missing(expected), json_step::failed;
  ++pos_;
  --depth_;
  return json_step::end;
}

json_step json_reader::open_array() { return open('[', ']', "an array"); }
json_step json_reader::next_element() { return next(']', "expected ',' or ']'"); }
json_step json_reader::open_members() { return open('{', '}', "an object"); }
json_step json_reader::next_member() { return next('}', "expected ',' or '}'"); }

bool json_reader::read_key(json_key& key) {
  if (peek() != '"') return missing("expected a member name");
  if (!read_text_view(key.text, &key)) return false;
  if (peek() != ':') return missing("expected ':'");
  ++pos_;
  return true;
}

/// Members usually come in the order of the struct, so the search starts at `from`. An unknown name has the index
/// `count`.
bool json_reader::find_member(const json_object_reader& layout, unsigned from, unsigned& index, json_key& key) {
  peek();
  const auto left = static_cast<std::size_t>(end_ - pos_);
  for (unsigned tried = 0, i = from; tried != layout.count; ++tried, ++i) {
    if (i == layout.count) i = 0;
    if (layout.members[i].matches(pos_, left)) {
      pos_ += layout.members[i].size;
      index = i;
      return true;
    }
  }
  if (!read_key(key)) return false;
  for (index = 0; index != layout.count; ++index) {
    if (layout.members[index].name() == key.text) break;
  }
  return true;
}

bool json_reader::open_struct() {
  if (peek() != '{') [[unlikely]]
    return wrong_type("an object");
  return enter();
}

bool json_reader::take_after_space(const json_member_reader& member) {
  peek();
  if (!member.matches(pos_, static_cast<std::size_t>(end_ - pos_))) return false;
  pos_ += member.size;
  return true;
}

json_step json_reader::resume(unsigned next, json_progress progress) {
  const bool empty = next == 0 && progress == json_progress::at_key && peek() == '}';
  return empty || progress == json_progress::after_value ? next_member() : json_step::item;
}

bool json_reader::read_rest(void* object, const json_object_reader& layout, unsigned next, json_progress progress) {
  json_key key;
  std::uint64_t seen = next == layout.count ? layout.all : (std::uint64_t{1} << next) - 1;
  auto step = resume(next, progress);
  for (; step == json_step::item; step = next_member()) {
    unsigned index;
    if (!find_member(layout, next, index, key)) return false;
    if (index == layout.count) {
      if (!skip_value()) return within(key.raw);
      continue;
    }
    const auto& member = layout.members[index];
    if (!member.read(*this, object)) return within(member.name());
    seen |= std::uint64_t{1} << index;
    next = index + 1;
  }
  if (step == json_step::failed) return false;
  return seen == layout.all || reset_absent(object, layout, layout.all & ~seen);
}

bool json_reader::reset_absent(void* object, const json_object_reader& layout, std::uint64_t absent) {
  for (; absent != 0; absent &= absent - 1) {
    const auto& member = layout.members[std::countr_zero(absent)];
    if (member.reset == nullptr) return fail_at(pos_ - 1, "missing"), within(member.name());
    member.reset(object);
  }
  return true;
}

bool json_reader::finish_after_space() {
  peek();
  return pos_ == end_ || fail("trailing bytes after the document");
}

} // namespace millrace::detail
