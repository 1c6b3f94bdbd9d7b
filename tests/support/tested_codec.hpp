#pragma once

#include <millrace/bytes.hpp>
#include <millrace/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::test_support {

/// A codec as its tests call it.
template <class Codec> struct tested_codec {
  template <class T> static std::string encoded(const T& value) {
    std::string out;
    const auto done = Codec::encode(value, out);
    EXPECT_TRUE(done) << done.error().message();
    return out;
  }
  template <class T> static T decoded(std::string_view document) {
    T value{};
    const auto done = Codec::decode(as_bytes(document), value);
    EXPECT_TRUE(done) << ::testing::PrintToString(document) << ": " << done.error().message();
    return value;
  }
  /// The context of the error.
  template <class T> static std::string refused(std::string_view document) {
    T value{};
    const auto done = Codec::decode(as_bytes(document), value);
    if (done) return "accepted";
    EXPECT_EQ(done.error(), errc::decode);
    return done.error().context();
  }
};

} // namespace millrace::test_support
