#include "types.hpp"

namespace msgpack_test {
namespace {

/// In a buffer that ends where the document does, so that AddressSanitizer sees every read behind it.
template <class T> result<void> decode_tight(std::string_view document, T& out) {
  const std::vector<char> tight(document.begin(), document.end());
  return msgpack_codec::decode(as_bytes({tight.data(), tight.size()}), out);
}

} // namespace

// What is accepted is written as a document that means the same, also when it is read into a used value.
TEST(MsgpackMutation, whatever_arrives_is_read_or_refused) {
  const auto whole = encoded(sample());
  std::minstd_rand random(7);
  invoice used;
  std::size_t accepted = 0;
  for (int i = 0; i != 20000; ++i) {
    const auto document = mutated(whole, random);
    invoice fresh;
    const auto read = decode_tight(document, fresh);
    ASSERT_EQ(decode_tight(document, used).has_value(), read.has_value());
    if (!read) {
      ASSERT_EQ(read.error(), errc::decode);
      continue;
    }
    ++accepted;
    const auto again = encoded(fresh);
    ASSERT_EQ(encoded(used).size(), again.size());
    ASSERT_EQ(encoded(decoded<invoice>(again)).size(), again.size());
  }
  EXPECT_GT(accepted, 100U);
}

TEST(MsgpackMutation, noise_is_read_or_refused) {
  std::minstd_rand random(11);
  std::size_t accepted = 0;
  const auto read = [&]<class T>(std::string_view document, T value) {
    const auto done = decode_tight(document, value);
    if (done)
      ++accepted;
    else
      EXPECT_EQ(done.error(), errc::decode);
  };
  for (int i = 0; i != 20000; ++i) {
    std::string document(1 + random() % 40, '\0');
    for (char& c : document)
      c = static_cast<char>(random() >> 8);
    read(document, invoice{});
    read("\x81\xa1x" + document, nothing{});
    read("\x91" + document, std::vector<std::optional<std::map<std::string, double>>>{});
  }
  EXPECT_GT(accepted, 0U);
}

} // namespace msgpack_test
