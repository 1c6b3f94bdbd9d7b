#include "server/tcp_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

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

} // namespace

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
  pairs_.push_back({client, server});
}

bool tcp_gate::forward(int from, int to) {
  char room[65536];
  const ssize_t n = recv(from, room, sizeof room, MSG_DONTWAIT);
  if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
  for (ssize_t sent = 0; sent < n;) {
    const ssize_t part = send(to, room + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
    if (part <= 0) return false;
    sent += part;
  }
  return true;
}

void tcp_gate::run() {
  while (!stopping_.load()) {
    if (cut_.exchange(false)) {
      for (const pair& p : pairs_)
        reset(p.client), reset(p.server);
      pairs_.clear();
    }
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
      const pair p = pairs_[i];
      bool ok = true;
      if (!held && watched[1 + 2 * i].revents != 0) ok = forward(p.client, p.server);
      if (!held && ok && watched[2 + 2 * i].revents != 0) ok = forward(p.server, p.client);
      if (ok)
        alive.push_back(p);
      else
        reset(p.client), reset(p.server);
    }
    pairs_ = std::move(alive);
    if ((watched[0].revents & POLLIN) != 0) accept_one();
  }
}

} // namespace millrace::rabbitmq::testing
