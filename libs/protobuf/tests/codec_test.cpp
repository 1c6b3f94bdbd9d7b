#include <millrace/protobuf.hpp>

#include <messages.pb.h>

#include <gtest/gtest.h>

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/message_differencer.h>

#include <random>
#include <string>

namespace {

using namespace millrace;
using google::protobuf::util::MessageDifferencer;
using protobuf_test::order;
using protobuf_test::tree;

static_assert(protobuf_message<order> && !protobuf_message<int> && !protobuf_message<std::string>);

order sample() {
  order made;
  made.set_id(1ULL << 40);
  made.set_item("a cable that is too long for the small string");
  made.add_sizes(-7);
  made.add_sizes(70000);
  made.mutable_buyer()->set_id(9);
  (*made.mutable_prices())["net"] = 1.5;
  return made;
}

std::string encoded(const google::protobuf::MessageLite& message) {
  std::string out;
  const auto done = detail::serialize_protobuf(message, out);
  EXPECT_TRUE(done) << done.error().message();
  return out;
}

template <class T> std::string refused(std::string_view payload) {
  T message;
  const auto done = protobuf_codec::decode(as_bytes(payload), message);
  if (done) return "accepted";
  EXPECT_EQ(done.error(), errc::decode);
  return done.error().context();
}

tree nested(int levels) {
  tree root;
  for (auto* at = &root; levels != 0; --levels)
    at = at->mutable_child();
  return root;
}

constexpr auto malformed = ": malformed, truncated or nested too deep";

} // namespace

TEST(Protobuf, content_type) { EXPECT_EQ(protobuf_codec::content_type, "application/x-protobuf"); }

TEST(Protobuf, a_message_reads_back) {
  std::string out = "kept";
  ASSERT_TRUE(protobuf_codec::encode(sample(), out));
  ASSERT_TRUE(out.starts_with("kept"));
  order read;
  ASSERT_TRUE(protobuf_codec::decode(as_bytes(std::string_view(out).substr(4)), read));
  EXPECT_TRUE(MessageDifferencer::Equals(read, sample()));
}

TEST(Protobuf, a_reused_message_is_overwritten_and_keeps_what_it_has_allocated) {
  auto used = sample();
  used.add_sizes(1);
  const auto* before = used.item().data();
  ASSERT_TRUE(protobuf_codec::decode(as_bytes(encoded(sample())), used));
  EXPECT_TRUE(MessageDifferencer::Equals(used, sample()));
  EXPECT_EQ(used.item().data(), before);
  ASSERT_TRUE(protobuf_codec::decode({}, used));
  EXPECT_FALSE(used.has_item());
}

TEST(Protobuf, a_payload_that_is_no_message_names_the_type) {
  EXPECT_EQ(refused<order>("not a message"), std::string("protobuf_test.order") + malformed);
  EXPECT_EQ(refused<order>("\x0a\x01x"), "accepted"); // an unknown wire type of a field is an unknown field
  EXPECT_EQ(refused<order>("\x08\x01\x0c"), std::string("protobuf_test.order") + malformed); // ends a group
}

TEST(Protobuf, a_truncated_payload_is_refused_unless_it_ends_between_fields) {
  order only;
  only.set_item("a text of some length");
  const auto whole = encoded(only);
  for (std::size_t size = 1; size != whole.size(); ++size)
    EXPECT_EQ(refused<order>(std::string_view(whole).substr(0, size)), std::string("protobuf_test.order") + malformed);
}

TEST(Protobuf, missing_required_fields_are_named_by_path) {
  EXPECT_EQ(refused<order>(std::string("\x22\x00", 2)), "protobuf_test.order: missing buyer.id");
  order bad;
  bad.mutable_buyer();
  std::string out = "kept";
  const auto done = protobuf_codec::encode(bad, out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), errc::encode);
  EXPECT_EQ(done.error().context(), "protobuf_test.order: missing buyer.id");
  EXPECT_EQ(out, "kept");
}

TEST(Protobuf, messages_nest_64_deep) {
  EXPECT_EQ(refused<tree>(encoded(nested(64))), "accepted");
  EXPECT_EQ(refused<tree>(encoded(nested(65))), std::string("protobuf_test.tree") + malformed);
}

TEST(Protobuf, whatever_arrives_is_read_or_refused) {
  const google::protobuf::LogSilencer quiet; // it logs text that is not UTF-8
  const auto whole = encoded(sample());
  std::minstd_rand random(7);
  order used;
  for (int i = 0; i != 20000; ++i) {
    auto payload = whole;
    for (auto changes = 1 + random() % 4; changes != 0; --changes)
      payload[random() % payload.size()] = static_cast<char>(random() >> 8);
    payload.resize(payload.size() - random() % 4);
    order fresh;
    const auto read = protobuf_codec::decode(as_bytes(payload), fresh);
    ASSERT_EQ(protobuf_codec::decode(as_bytes(payload), used).has_value(), read.has_value());
    if (!read) {
      ASSERT_EQ(read.error(), errc::decode);
    } else {
      ASSERT_EQ(encoded(used).size(), encoded(fresh).size());
    }
  }
}
