#include "stalling_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace millrace::pubsub::test {
namespace {

sockaddr_in local(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

/// Connected to a server of this machine; -1: nobody there.
int dial(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in to = local(port);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return made;
  ::close(made);
  return -1;
}

} // namespace

stalling_gate::stalling_gate(const std::string& to)
    : target_(static_cast<std::uint16_t>(std::stoi(to.substr(to.rfind(':') + 1)))),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in here = local(0);
  socklen_t size = sizeof here;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    throw std::runtime_error("a gate cannot listen");
  port_ = ntohs(here.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

stalling_gate::~stalling_gate() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    for (const int socket : sockets_)
      ::shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  for (std::thread& one : pumps_)
    one.join();
  for (const int socket : sockets_)
    ::close(socket);
  ::close(listener_);
}

std::string stalling_gate::address() const { return "127.0.0.1:" + std::to_string(port_); }

void stalling_gate::set_held(bool on) {
  {
    const std::lock_guard lock(mutex_);
    held_ = on;
  }
  changed_.notify_all();
}

void stalling_gate::accept_all() {
  for (int client = 0; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    const int server = dial(target_);
    const std::lock_guard lock(mutex_);
    sockets_.push_back(client);
    if (server < 0) {
      ::shutdown(client, SHUT_RDWR);
      continue;
    }
    sockets_.push_back(server);
    pumps_.emplace_back([this, client, server] { pump(client, server); });
    pumps_.emplace_back([this, client, server] { pump(server, client); });
  }
}

/// Until one side ends; then the other one does too.
void stalling_gate::pump(int from, int to) {
  char bytes[16 * 1024];
  for (ssize_t n = 0; (n = ::recv(from, bytes, sizeof bytes, 0)) > 0;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_ || over_; });
    lock.unlock();
    for (ssize_t sent = 0; sent < n;) {
      const ssize_t now = ::send(to, bytes + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
      if (now <= 0) break;
      sent += now;
    }
  }
  ::shutdown(to, SHUT_WR);
}

} // namespace millrace::pubsub::test
