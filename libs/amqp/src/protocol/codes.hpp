#pragma once

#include <cstdint>

namespace millrace::amqp::detail {

/// Descriptors of the sections of a message, part 3 of the specification.
enum class section : std::uint8_t {
  header = 0x70,
  delivery_annotations = 0x71,
  message_annotations = 0x72,
  properties = 0x73,
  application_properties = 0x74,
  data = 0x75,
  sequence = 0x76,
  value = 0x77,
  footer = 0x78,
};

/// The transaction types, part 4.
inline constexpr std::uint64_t declare_code = 0x31;
inline constexpr std::uint64_t discharge_code = 0x32;
inline constexpr std::uint64_t declared_code = 0x33;
inline constexpr std::uint64_t transactional_state_code = 0x34;

/// Constructors of the primitive types that are written or told apart here.
namespace constructor {
inline constexpr std::uint8_t described = 0x00, null = 0x40, boolean_true = 0x41, boolean_false = 0x42, uint_0 = 0x43,
                              ulong_0 = 0x44, list_0 = 0x45, ubyte = 0x50, byte = 0x51, small_uint = 0x52,
                              small_ulong = 0x53, small_int = 0x54, small_long = 0x55, boolean = 0x56, ushort = 0x60,
                              int16 = 0x61, uint = 0x70, int32 = 0x71, float32 = 0x72, character = 0x73, ulong = 0x80,
                              int64 = 0x81, float64 = 0x82, timestamp = 0x83, uuid = 0x98, binary8 = 0xa0,
                              string8 = 0xa1, symbol8 = 0xa3, binary32 = 0xb0, string32 = 0xb1, symbol32 = 0xb3,
                              list8 = 0xc0, map8 = 0xc1, list32 = 0xd0, map32 = 0xd1;
} // namespace constructor

} // namespace millrace::amqp::detail
