#include "support/gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace millrace::amqp::testing {
namespace {

sockaddr_in loopback(unsigned short port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

void close_with_reset(int fd) {
  const linger at_once{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(fd);
}

} // namespace

/// False: one side is gone, or what may pass has passed.
bool gate::pass_on(int from, int to) {
  char room[65536];
  const std::int64_t most = std::min<std::int64_t>(left_.load(), sizeof room);
  const ssize_t n = recv(from, room, static_cast<std::size_t>(most), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  for (ssize_t sent = 0; sent < n;) {
    const ssize_t part = send(to, room + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
    if (part <= 0) return false;
    sent += part;
  }
  passed_.fetch_add(n);
  if (left_.load() != unlimited && left_.fetch_sub(n) == n) {
    left_.store(unlimited);
    cut_.store(true);
  }
  return n > 0;
}

/// The connections that go through, two descriptors each.
class gate::flows {
 public:
  ~flows() { reset(); }
  void reset() {
    for (const flow& f : all_)
      close_with_reset(f.client), close_with_reset(f.server);
    all_.clear();
  }
  void accept(int listener, unsigned short to) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in at = loopback(to);
    if (connect(server, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0)
      all_.push_back({client, server});
    else
      close_with_reset(client), close(server);
  }
  void watch(std::vector<pollfd>& in) const {
    for (const flow& f : all_)
      in.push_back({f.client, POLLIN, 0}), in.push_back({f.server, POLLIN, 0});
  }
  void pass(gate& through) {
    std::erase_if(all_, [&](const flow& f) {
      if (through.pass_on(f.client, f.server) && through.pass_on(f.server, f.client)) return false;
      close_with_reset(f.client), close_with_reset(f.server);
      return true;
    });
  }

 private:
  struct flow {
    int client;
    int server;
  };
  std::vector<flow> all_;
};

gate::gate(unsigned short to) : to_(to) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error("the gate cannot listen");
  port_ = ntohs(at.sin_port);
  thread_ = std::thread([this] { run(); });
}

gate::~gate() {
  stopping_.store(true);
  thread_.join();
  close(listener_);
}

void gate::run() {
  flows through;
  while (!stopping_.load()) {
    if (cut_.exchange(false)) through.reset();
    std::vector<pollfd> watched{{listener_, POLLIN, 0}};
    const bool held = held_.load();
    if (!held) through.watch(watched);
    poll(watched.data(), watched.size(), 10);
    if (!held) through.pass(*this);
    if ((watched[0].revents & POLLIN) != 0) through.accept(listener_, to_);
  }
}

} // namespace millrace::amqp::testing
