// What the server leaves to any client: no client at all, but publishes that were encoded before and are written in
// bunches, and confirms of which nothing but the delivery tag is read. Its rate is the most that a client can reach.
#include "meter.hpp"
#include "rabbitmqc.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench::bare {
namespace {

constexpr std::size_t bunch = 16;
constexpr std::size_t ack_size = 21; ///< of the frame of basic.ack: all that a channel in confirm mode says

template <class Integer> void append(std::string& to, Integer value) {
  for (std::size_t byte = sizeof value; byte-- > 0;)
    to += static_cast<char>(value >> (8 * byte) & 0xFF);
}

void append_frame(std::string& to, std::uint8_t type, const std::string& content) {
  append(to, type);
  append(to, std::uint16_t{1}); // the channel
  append(to, static_cast<std::uint32_t>(content.size()));
  to += content + '\xCE';
}

/// basic.publish, mandatory, of 16 bytes to the default exchange: three frames.
std::string one_publish() {
  const std::string queue = publish_queue;
  std::string method("\x00\x3C\x00\x28\x00\x00\x00", 7);
  method += static_cast<char>(queue.size()) + queue + '\x01';
  std::string header("\x00\x3C\x00\x00", 4);
  append(header, std::uint64_t{16});
  append(header, std::uint16_t{1U << 12}); // its one property, the delivery mode
  header += '\x01';
  std::string out;
  append_frame(out, 1, method);
  append_frame(out, 2, header);
  append_frame(out, 3, std::string(payload(16)));
  return out;
}

void write_all(int fd, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = send(fd, &bytes[at], bytes.size() - at, MSG_NOSIGNAL);
    check(n > 0 ? 0 : AMQP_STATUS_SOCKET_ERROR, "send");
    at += static_cast<std::size_t>(n);
  }
}

/// The confirms as they come in.
class confirmed_messages {
 public:
  explicit confirmed_messages(int fd) noexcept : fd_(fd) {}
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  void read() {
    const ssize_t n = recv(fd_, &bytes_[held_], sizeof bytes_ - held_, 0);
    check(n > 0 ? 0 : AMQP_STATUS_SOCKET_ERROR, "recv");
    held_ += static_cast<std::size_t>(n);
    std::size_t at = 0;
    for (; held_ - at >= ack_size; at += ack_size)
      take(bytes_ + at);
    std::copy(bytes_ + at, bytes_ + held_, bytes_);
    held_ -= at;
  }

 private:
  void take(const unsigned char* frame) {
    check(frame[8] == 0x3C && frame[10] == 0x50 ? 0 : AMQP_STATUS_UNEXPECTED_STATE, "basic.ack");
    std::size_t tag = 0;
    for (std::size_t i = 11; i < 19; ++i)
      tag = tag << 8 | frame[i];
    count_ = (frame[19] & 1U) != 0 ? std::max(count_, tag) : count_ + 1;
  }
  int fd_;
  std::size_t count_ = 0;
  std::size_t held_ = 0;
  unsigned char bytes_[std::size_t{ack_size} * 4096] = {};
};

} // namespace

int ready_bytes(const run_options& options) {
  connection to(options.url);
  amqp_confirm_select(to.get(), 1);
  check(amqp_get_rpc_reply(to.get()), "confirm.select");
  const int fd = amqp_get_sockfd(to.get());
  check(fcntl(fd, F_SETFL, 0) == 0 ? 0 : AMQP_STATUS_SOCKET_ERROR, "a socket that waits");
  std::string bytes;
  for (std::size_t i = 0; i < bunch; ++i)
    bytes += one_publish();
  confirmed_messages confirmed(fd);
  const std::size_t messages = options.messages / bunch * bunch;
  meter m(messages);
  m.begin();
  for (std::size_t sent = 0; confirmed.count() < messages;) {
    if (sent < messages && sent + bunch - confirmed.count() <= window) {
      write_all(fd, bytes);
      sent += bunch;
    } else {
      confirmed.read();
    }
  }
  m.end();
  m.report();
  return 0;
}

} // namespace bench::bare
