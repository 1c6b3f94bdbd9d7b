#pragma once

#include "protocol/frame.hpp"

#include <millrace/rabbitmq/queue.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::rabbitmq::detail {

/// Class and method in one number, as they stand on the wire.
enum class method : std::uint32_t {
  none = 0,
  connection_start = 10 << 16 | 10,
  connection_start_ok = 10 << 16 | 11,
  connection_secure = 10 << 16 | 20,
  connection_tune = 10 << 16 | 30,
  connection_tune_ok = 10 << 16 | 31,
  connection_open = 10 << 16 | 40,
  connection_open_ok = 10 << 16 | 41,
  connection_close = 10 << 16 | 50,
  connection_close_ok = 10 << 16 | 51,
  connection_blocked = 10 << 16 | 60,
  connection_unblocked = 10 << 16 | 61,
  channel_open = 20 << 16 | 10,
  channel_open_ok = 20 << 16 | 11,
  channel_flow = 20 << 16 | 20,
  channel_flow_ok = 20 << 16 | 21,
  channel_close = 20 << 16 | 40,
  channel_close_ok = 20 << 16 | 41,
  exchange_declare = 40 << 16 | 10,
  exchange_declare_ok = 40 << 16 | 11,
  queue_declare = 50 << 16 | 10,
  queue_declare_ok = 50 << 16 | 11,
  queue_bind = 50 << 16 | 20,
  queue_bind_ok = 50 << 16 | 21,
  basic_qos = 60 << 16 | 10,
  basic_qos_ok = 60 << 16 | 11,
  basic_consume = 60 << 16 | 20,
  basic_consume_ok = 60 << 16 | 21,
  basic_cancel = 60 << 16 | 30,
  basic_cancel_ok = 60 << 16 | 31,
  basic_publish = 60 << 16 | 40,
  basic_return = 60 << 16 | 50,
  basic_deliver = 60 << 16 | 60,
  basic_ack = 60 << 16 | 80,
  basic_reject = 60 << 16 | 90,
  basic_nack = 60 << 16 | 120,
  confirm_select = 85 << 16 | 10,
  confirm_select_ok = 85 << 16 | 11,
  tx_select = 90 << 16 | 10,
  tx_select_ok = 90 << 16 | 11,
  tx_commit = 90 << 16 | 20,
  tx_commit_ok = 90 << 16 | 21,
  tx_rollback = 90 << 16 | 30,
  tx_rollback_ok = 90 << 16 | 31,
};

/// The method of a method frame's payload; `args` reads what follows.
[[nodiscard]] inline method read_method(reader& args) noexcept { return static_cast<method>(args.u32()); }

// What the server sends. Views into the frame; check `ok` of the reader afterwards.

/// channel.close and connection.close.
struct close_args {
  explicit close_args(reader& in) noexcept : code(in.u16()), text(in.short_string()) {}
  std::uint16_t code;
  std::string_view text;
};
struct deliver_args {
  explicit deliver_args(reader& in) noexcept
      : consumer_tag(in.short_string()), tag(in.u64()), redelivered((in.u8() & 1) != 0), exchange(in.short_string()),
        routing_key(in.short_string()) {}
  std::string_view consumer_tag;
  std::uint64_t tag;
  bool redelivered;
  std::string_view exchange;
  std::string_view routing_key;
};
struct return_args {
  explicit return_args(reader& in) noexcept
      : code(in.u16()), text(in.short_string()), exchange(in.short_string()), routing_key(in.short_string()) {}
  std::uint16_t code;
  std::string_view text;
  std::string_view exchange;
  std::string_view routing_key;
};
/// basic.ack and basic.nack of a confirming channel.
struct confirm_args {
  explicit confirm_args(reader& in) noexcept : tag(in.u64()), multiple((in.u8() & 1) != 0) {}
  std::uint64_t tag;
  bool multiple;
};
struct tune_args {
  explicit tune_args(reader& in) noexcept : channel_max(in.u16()), frame_max(in.u32()), heartbeat(in.u16()) {}
  std::uint16_t channel_max;
  std::uint32_t frame_max;
  std::uint16_t heartbeat;
};

// What we send: each appends one frame. Names were checked to fit a short string.

void append_start_ok(std::string& out, std::string_view mechanism, std::string_view response,
                     std::string_view connection_name);
void append_tune_ok(std::string& out, std::uint16_t channel_max, std::uint32_t frame_max, std::uint16_t heartbeat);
void append_connection_open(std::string& out, std::string_view vhost);
void append_connection_close(std::string& out, std::uint16_t code, std::string_view text);
/// A method without arguments: the oks of close and flow's kin.
void append_plain(std::string& out, std::uint16_t channel, method what);
void append_channel_open(std::string& out, std::uint16_t channel);
void append_channel_close(std::string& out, std::uint16_t channel);
void append_flow_ok(std::string& out, std::uint16_t channel, bool active);
void append_exchange_declare(std::string& out, const exchange_spec& exchange, bool passive);
struct queue_flags {
  bool passive = false;
  bool durable = false;
  bool exclusive = false;
  bool auto_delete = false;
};
void append_queue_declare(std::string& out, std::string_view name, queue_flags flags, const arguments& args);
void append_queue_bind(std::string& out, std::string_view queue, std::string_view exchange, std::string_view key,
                       const arguments& args);
void append_qos(std::string& out, std::uint16_t prefetch);
struct consume_flags {
  bool no_ack = false;
  bool exclusive = false;
};
void append_consume(std::string& out, std::string_view queue, consume_flags flags, const arguments& args);
void append_cancel(std::string& out, std::uint16_t channel, std::string_view consumer_tag);
void append_confirm_select(std::string& out, std::uint16_t channel);
void append_ack(std::string& out, std::uint16_t channel, std::uint64_t tag);
void append_reject(std::string& out, std::uint16_t channel, std::uint64_t tag, bool requeue);

} // namespace millrace::rabbitmq::detail
