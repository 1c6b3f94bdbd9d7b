#include "support/tcp_relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

namespace millrace::test_support {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

void set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

/// As a broken network does.
void reset(int fd) {
  const linger now{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(fd);
}

/// -1: nobody is there.
int dial(int port, int room) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (room > 0) set(fd, SOL_SOCKET, SO_RCVBUF, room);
  const sockaddr_in at = loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
  close(fd);
  return -1;
}

constexpr std::size_t slot(way to) { return static_cast<std::size_t>(to); }
constexpr std::size_t other(way to) { return 1 - slot(to); }

} // namespace

struct tcp_relay::connection {
  std::array<int, 2> ends;              ///< the client's and the server's: each is where bytes of a way come from
  filter seen;                          ///< may be empty
  std::array<std::string, 2> pending{}; ///< what was read and the other side did not take yet
};

tcp_relay::tcp_relay(int server_port) : tcp_relay(server_port, options()) {}

tcp_relay::tcp_relay(int server_port, options with)
    : server_port_(server_port), with_(std::move(with)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (bell_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    throw std::runtime_error("the relay cannot listen");
  port_ = ntohs(at.sin_port);
  thread_ = std::thread([this] { run(); });
}

tcp_relay::~tcp_relay() {
  stopping_.store(true);
  wake();
  thread_.join();
  cut_.store(true);
  bury_.store(true);
  obey();
  close(listener_);
  close(bell_);
}

void tcp_relay::wake() const noexcept {
  const std::uint64_t once = 1;
  (void)!write(bell_, &once, sizeof once);
}

void tcp_relay::cut() noexcept {
  cut_.store(true); // before the release: nothing of what was held passes
  release();
}

void tcp_relay::hold(way to) noexcept { held_[slot(to)].store(true); }

void tcp_relay::hold() noexcept {
  hold(way::to_server);
  hold(way::to_client);
}

void tcp_relay::release() noexcept {
  for (std::atomic<bool>& one : held_)
    one.store(false);
  wake();
}

void tcp_relay::strand() noexcept {
  strand_.store(true);
  wake();
}

void tcp_relay::bury() noexcept {
  bury_.store(true);
  wake();
}

void tcp_relay::run() {
  while (!stopping_.load()) {
    obey();
    wait_for_news();
    std::erase_if(connections_, [this](connection& one) {
      if (pass(one, way::to_server) && pass(one, way::to_client)) return false;
      for (const int end : one.ends)
        close(end);
      return true;
    });
    accept_one();
  }
}

void tcp_relay::obey() {
  const bool strands = strand_.exchange(false);
  if (cut_.exchange(false) || strands) {
    for (const connection& one : connections_) {
      reset(one.ends[0]);
      if (strands)
        stranded_.push_back(one.ends[1]);
      else
        reset(one.ends[1]);
    }
    connections_.clear();
  }
  if (!bury_.exchange(false)) return;
  for (const int server : stranded_)
    reset(server);
  stranded_.clear();
}

/// An order, a client, or something that may pass.
void tcp_relay::wait_for_news() const {
  std::vector<pollfd> watched{{bell_, POLLIN, 0}, {listener_, POLLIN, 0}};
  for (const connection& one : connections_) {
    std::array<short, 2> events{};
    for (const way to : {way::to_server, way::to_client}) {
      if (stopped(to)) continue;
      if (one.pending[slot(to)].empty())
        events[slot(to)] |= POLLIN;
      else
        events[other(to)] |= POLLOUT;
    }
    for (std::size_t i = 0; i < 2; ++i) // a negative descriptor is not looked at: its end is not to be seen either
      watched.push_back({events[i] != 0 ? one.ends[i] : -1, events[i], 0});
  }
  poll(watched.data(), watched.size(), -1);
  std::uint64_t rings = 0;
  (void)!read(bell_, &rings, sizeof rings);
}

bool tcp_relay::stopped(way to) const noexcept { return held_[slot(to)].load() || cut_.load() || strand_.load(); }

/// What is there, as far as the other side takes it. False: the side that it comes from has ended. If the other one
/// has, it is dropped, until that one's own end is read behind what it sent last.
bool tcp_relay::pass(connection& through, way to) const {
  if (stopped(to)) return true;
  std::string& bytes = through.pending[slot(to)];
  if (bytes.empty()) {
    std::array<char, 65536> room;
    const ssize_t n = recv(through.ends[slot(to)], room.data(), room.size(), MSG_DONTWAIT);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    bytes.assign(room.data(), static_cast<std::size_t>(n));
    if (through.seen) through.seen(to, bytes);
  }
  const ssize_t n = send(through.ends[other(to)], bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n >= 0)
    bytes.erase(0, static_cast<std::size_t>(n));
  else if (errno != EAGAIN && errno != EINTR)
    bytes.clear();
  return true;
}

void tcp_relay::accept_one() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = dial(server_port_, with_.server_room);
  if (server < 0) return reset(client);
  for (const int fd : {client, server})
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1); // else what follows a small piece waits for its acknowledgement, 40 ms
  connections_.push_back({{client, server}, with_.made ? with_.made(*this) : filter(), {}});
}

} // namespace millrace::test_support
