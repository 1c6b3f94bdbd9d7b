#include "server/tcp_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace millrace::rabbitmq::testing {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Closes with a reset, as a broken network does.
void reset(int fd) {
  const linger now{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(fd);
}

/// Else what follows a small piece waits for the acknowledgement of that, 40 ms.
void send_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t part = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (part <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(part));
  }
  return true;
}

/// False: the connection is over.
bool receive(int from, std::string& into) {
  into.resize(65536);
  const ssize_t n = recv(from, into.data(), into.size(), MSG_DONTWAIT);
  into.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

} // namespace

std::size_t frame_walker::to_frame_end(std::string_view input) {
  std::size_t taken = 0;
  if (left_ == 0) { // type, channel and size
    while (taken < input.size() && head_.size() < 7)
      head_.push_back(input[taken++]);
    if (head_.size() < 7) return taken;
    for (std::size_t i = 3; i < 7; ++i)
      left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
    ++left_; // the end mark
    head_.clear();
  }
  const std::size_t rest = std::min(left_, input.size() - taken);
  left_ -= rest;
  return taken + rest;
}

tcp_gate::tcp_gate(std::uint16_t to) : to_(to) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the gate cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

tcp_gate::~tcp_gate() {
  stopping_.store(true);
  thread_.join();
  for (const pair& p : pairs_)
    reset(p.client), reset(p.server);
  for (const int server : stranded_)
    reset(server);
  close(listener_);
}

void tcp_gate::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(to_);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    reset(client);
    close(server);
    return;
  }
  send_at_once(client);
  send_at_once(server);
  pairs_.push_back({client, server, {}});
}

bool tcp_gate::from_client(pair& p) {
  std::string bytes;
  if (!receive(p.client, bytes)) return false;
  for (std::string_view left = bytes; !left.empty();) {
    if (p.frames.between_frames() && cut_after_.load() == 0) {
      cut_after_.store(-1);
      strand_.store(strands_after_.exchange(false));
      return strand_.load(); // then the next turn ends the client
    }
    const std::string_view part = left.substr(0, p.frames.to_frame_end(left));
    if (!send_all(p.server, part)) return false;
    left.remove_prefix(part.size());
    if (p.frames.between_frames() && cut_after_.load() > 0) --cut_after_;
  }
  return true;
}

bool tcp_gate::from_server(const pair& p) {
  std::string bytes;
  return receive(p.server, bytes) && send_all(p.client, bytes);
}

void tcp_gate::obey() {
  const bool strands = strand_.exchange(false);
  if (strands || cut_.exchange(false)) {
    for (const pair& p : pairs_) {
      reset(p.client);
      if (strands)
        stranded_.push_back(p.server);
      else
        reset(p.server);
    }
    pairs_.clear();
  }
  if (!bury_.exchange(false)) return;
  for (const int server : stranded_)
    reset(server);
  stranded_.clear();
}

void tcp_gate::run() {
  while (!stopping_.load()) {
    obey();
    std::vector<pollfd> watched{{listener_, POLLIN, 0}};
    const bool held = held_.load();
    for (const pair& p : pairs_) {
      const auto events = static_cast<short>(held ? 0 : POLLIN);
      watched.push_back({p.client, events, 0});
      watched.push_back({p.server, events, 0});
    }
    poll(watched.data(), watched.size(), 10);
    std::vector<pair> alive;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      pair& p = pairs_[i];
      bool ok = true;
      if (!held && watched[1 + 2 * i].revents != 0) ok = from_client(p);
      if (!held && ok && watched[2 + 2 * i].revents != 0) ok = from_server(p);
      if (ok)
        alive.push_back(std::move(p));
      else
        reset(p.client), reset(p.server);
    }
    pairs_ = std::move(alive);
    if ((watched[0].revents & POLLIN) != 0) accept_one();
  }
}

} // namespace millrace::rabbitmq::testing
