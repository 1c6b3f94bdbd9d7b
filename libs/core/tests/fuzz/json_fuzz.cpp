#include <millrace/codec/json.hpp>

#include <cstdlib>

namespace {

enum class color { red, green, blue };
BOOST_DESCRIBE_ENUM(color, red, green, blue)

struct base {
  std::int8_t small = 0;
  std::uint64_t large = 0;
};
BOOST_DESCRIBE_STRUCT(base, (), (small, large))

struct part : base {
  std::string name;
  std::optional<double> price;
  std::vector<part> parts;
  std::map<std::string, std::optional<float>> rates;
  std::unordered_map<std::string, std::vector<bool>> flags;
  std::optional<color> paint;
  std::optional<std::array<std::int64_t, 2>> range;
};
BOOST_DESCRIBE_STRUCT(part, (base), (name, price, parts, rates, flags, paint, range))

using millrace::json_codec;

std::string must_encode(const part& value) {
  std::string text;
  if (!json_codec::encode(value, text)) std::abort();
  return text;
}

} // namespace

/// Whatever is accepted is written as a document that means the same, also when it is read into a used value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static part used;
  const millrace::bytes_view document(reinterpret_cast<const std::byte*>(data), size);
  part fresh;
  const bool accepted = json_codec::decode(document, fresh).has_value();
  if (json_codec::decode(document, used).has_value() != accepted) std::abort();
  if (!accepted) return 0;
  const auto text = must_encode(fresh);
  part again;
  if (!json_codec::decode(millrace::as_bytes(text), again)) std::abort();
  if (json_codec::decode(millrace::as_bytes(text), used) && must_encode(again).size() != text.size()) std::abort();
  return must_encode(used).size() == text.size() ? 0 : (std::abort(), 0);
}
