#pragma once

#include "support/codec_values.hpp"
#include "support/tested_codec.hpp"

#include <millrace/msgpack.hpp>

/// What the tests of the codec share.
namespace msgpack_test {

using namespace millrace;
using test_support::header;
using test_support::invoice;
using test_support::line;
using test_support::mutated;
using test_support::nothing;
using test_support::order;
using test_support::raw;
using test_support::sample;
using test_support::state;
using test_support::tree;

using codec = test_support::tested_codec<msgpack_codec>;
template <class T> std::string encoded(const T& value) { return codec::encoded(value); }
template <class T> T decoded(std::string_view document) { return codec::decoded<T>(document); }
template <class T> std::string refused(std::string_view document) { return codec::refused<T>(document); }

inline std::string text(std::string_view s) { return static_cast<char>(0xa0 + s.size()) + std::string(s); }

} // namespace msgpack_test
