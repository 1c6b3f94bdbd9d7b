#include "cloud/filter.hpp"

#include <cctype>
#include <string>

namespace millrace::pubsub::detail {
namespace {

const std::string* value_of(const wire::PubsubMessage& m, const std::string& key) {
  const auto found = m.attributes().find(key);
  return found == m.attributes().end() ? nullptr : &found->second;
}

class filter_parser {
 public:
  explicit filter_parser(std::string_view text) noexcept : left_(text) {}

  std::optional<message_filter> parse() {
    auto all = either();
    skip_space();
    if (!all || !left_.empty()) return std::nullopt;
    return all;
  }

 private:
  using parsed = std::optional<message_filter>;

  parsed either() {
    parsed left = both();
    while (left && take_word("OR")) {
      parsed right = both();
      if (!right) return std::nullopt;
      left = [a = *left, b = *right](const wire::PubsubMessage& m) { return a(m) || b(m); };
    }
    return left;
  }
  parsed both() {
    parsed left = negated();
    while (left && take_word("AND")) {
      parsed right = negated();
      if (!right) return std::nullopt;
      left = [a = *left, b = *right](const wire::PubsubMessage& m) { return a(m) && b(m); };
    }
    return left;
  }
  parsed negated() {
    if (!take_word("NOT") && !take("-")) return term();
    parsed inner = term();
    if (!inner) return inner;
    return [a = *inner](const wire::PubsubMessage& m) { return !a(m); };
  }
  parsed term() {
    if (take("(")) {
      parsed inner = either();
      return take(")") ? inner : std::nullopt;
    }
    if (take("hasPrefix")) return prefix();
    if (!take("attributes")) return std::nullopt;
    if (take(":")) return presence();
    return comparison();
  }
  parsed presence() {
    const std::string key = name();
    if (key.empty()) return std::nullopt;
    return [key](const wire::PubsubMessage& m) { return value_of(m, key) != nullptr; };
  }
  parsed comparison() {
    if (!take(".")) return std::nullopt;
    const std::string key = name();
    const bool equal = !take("!");
    std::string value;
    if (key.empty() || !take("=") || !quoted(value)) return std::nullopt;
    return [key, value, equal](const wire::PubsubMessage& m) {
      const std::string* const seen = value_of(m, key);
      return seen != nullptr && (*seen == value) == equal;
    };
  }
  parsed prefix() {
    if (!take("(") || !take("attributes") || !take(".")) return std::nullopt;
    const std::string key = name();
    std::string value;
    if (key.empty() || !take(",") || !quoted(value) || !take(")")) return std::nullopt;
    return [key, value](const wire::PubsubMessage& m) {
      const std::string* const seen = value_of(m, key);
      return seen != nullptr && seen->starts_with(value);
    };
  }

  std::string name() {
    std::string read;
    if (skip_space(); left_.starts_with('"')) return quoted(read) ? read : std::string();
    while (!left_.empty() && (std::isalnum(static_cast<unsigned char>(left_.front())) != 0 || left_.front() == '_' ||
                              left_.front() == '-')) {
      read.push_back(left_.front());
      left_.remove_prefix(1);
    }
    return read;
  }
  bool quoted(std::string& to) {
    if (!take("\"")) return false;
    while (!left_.empty() && left_.front() != '"') {
      if (left_.front() == '\\' && left_.size() > 1) left_.remove_prefix(1);
      to.push_back(left_.front());
      left_.remove_prefix(1);
    }
    if (left_.empty()) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view token) {
    skip_space();
    if (!left_.starts_with(token)) return false;
    left_.remove_prefix(token.size());
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    const bool whole = left_.starts_with(word) && (left_.size() == word.size() ||
                                                   std::isalnum(static_cast<unsigned char>(left_[word.size()])) == 0);
    if (whole) left_.remove_prefix(word.size());
    return whole;
  }
  void skip_space() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front())) != 0)
      left_.remove_prefix(1);
  }

  std::string_view left_;
};

} // namespace

std::optional<message_filter> parse_filter(std::string_view text) {
  if (text.empty()) return [](const wire::PubsubMessage&) { return true; };
  return filter_parser(text).parse();
}

} // namespace millrace::pubsub::detail
