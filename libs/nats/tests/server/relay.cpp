#include "relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace millrace::nats::test {
namespace {

constexpr int look_every = 10; // milliseconds: for `hold`, `cut` and the end

sockaddr_in loopback(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

/// The server's end takes little by itself.
int dial(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int little = 4096;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  const sockaddr_in at = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
  ::close(fd);
  return -1;
}

/// What is there; what the other side does not take any more is dropped. False: this side has ended.
bool pass_on(int from, int to) {
  std::array<char, 65536> bytes;
  const ssize_t n = recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  for (ssize_t at = 0; at < n;) {
    const ssize_t part = send(to, &bytes[static_cast<std::size_t>(at)], static_cast<std::size_t>(n - at), MSG_NOSIGNAL);
    if (part < 0) return true;
    at += part;
  }
  return n > 0;
}

} // namespace

relay::relay(int server_port) : server_port_(server_port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error("the relay cannot listen");
  port_ = ntohs(at.sin_port);
  thread_ = std::thread([this] { run(); });
}

relay::~relay() {
  stopping_.store(true);
  thread_.join();
  end_all();
  ::close(listener_);
}

void relay::end_all() {
  for (const pair& p : pairs_)
    ::close(p.client), ::close(p.server);
  pairs_.clear();
}

void relay::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = dial(server_port_);
  if (server < 0) {
    ::close(client);
    return;
  }
  pairs_.push_back({client, server});
  if (!nonce_.empty()) greet(pairs_.back());
}

void relay::greet(const pair& p) {
  constexpr std::string_view key = "\"nonce\":\"";
  std::string info;
  for (char c = 0; c != '\n' && recv(p.server, &c, 1, 0) == 1;)
    info += c;
  const std::size_t at = info.find(key);
  if (at != std::string::npos) info.replace(at + key.size(), nonce_.size(), nonce_);
  nonce_.clear();
  (void)send(p.client, info.data(), info.size(), MSG_NOSIGNAL);
}

void relay::run() {
  while (!stopping_.load())
    turn();
}

void relay::turn() {
  if (cut_.exchange(false)) {
    end_all();
    held_.store(false);
  }
  const auto from_server = static_cast<short>(held_.load() ? 0 : POLLIN);
  std::vector<pollfd> watched{{listener_, POLLIN, 0}};
  for (const pair& p : pairs_) {
    watched.push_back({p.client, POLLIN, 0});
    // A negative descriptor is not looked at: its end is not to be seen either.
    watched.push_back({from_server != 0 ? p.server : -1, from_server, 0});
  }
  if (poll(watched.data(), watched.size(), look_every) <= 0) return;
  std::vector<pair> alive;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const pair& p = pairs_[i];
    const bool heard_client = watched[1 + 2 * i].revents != 0;
    const bool heard_server = watched[2 + 2 * i].revents != 0;
    if ((!heard_client || pass_on(p.client, p.server)) && (!heard_server || pass_on(p.server, p.client)))
      alive.push_back(p);
    else
      ::close(p.client), ::close(p.server);
  }
  pairs_ = std::move(alive);
  if ((watched[0].revents & POLLIN) != 0) accept_one();
}

} // namespace millrace::nats::test
