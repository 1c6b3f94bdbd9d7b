#include "types.hpp"

namespace cbor_test {
// What is accepted is written as a document that means the same, also when it is read into a used value.
TEST(CborMutation, whatever_arrives_is_read_or_refused) {
  const auto whole = encoded(sample());
  std::minstd_rand random(7);
  invoice used;
  std::size_t accepted = 0;
  for (int i = 0; i != 20000; ++i) {
    const auto document = mutated(whole, random);
    invoice fresh;
    const auto read = cbor_codec::decode(as_bytes(document), fresh);
    ASSERT_EQ(cbor_codec::decode(as_bytes(document), used).has_value(), read.has_value());
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

TEST(CborMutation, noise_is_read_or_refused) {
  std::minstd_rand random(11);
  std::size_t accepted = 0;
  const auto read = [&]<class T>(std::string_view document, T value) {
    const auto done = cbor_codec::decode(as_bytes(document), value);
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
    read("\xa1\x61x" + document, nothing{});
    read("\x9f" + document, std::vector<std::optional<std::map<std::string, double>>>{});
  }
  EXPECT_GT(accepted, 0U);
}

} // namespace cbor_test
