#include "transport/libnats/socket_bound.hpp"

#include "transport/libnats/libnats_status.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace millrace::nats::detail {
namespace {

struct local_end {
  std::string ip;
  int port = 0;
  bool operator==(const local_end&) const = default;
};

local_end end_of(natsConnection* nc) {
  char* ip = nullptr;
  local_end at;
  if (natsConnection_GetLocalIPAndPort(nc, &ip, &at.port) != NATS_OK) return {};
  at.ip = ip;
  std::free(ip);
  return at;
}

/// Where a connected TCP socket is bound; port 0 if it is none.
local_end end_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {text.data(), ntohs(v4.sin_port)};
  }
  if (address.ss_family != AF_INET6) return {};
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return {text.data(), ntohs(v6.sin6_port)};
}

/// The descriptor of the socket that is bound to `wanted`, among this process's; -1 if there is none. The client tells
/// the address of its socket and not the socket.
int find_socket(const local_end& wanted) {
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", fault)) {
    const std::string name = entry.path().filename().string();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    int listening = 0;
    socklen_t size = sizeof listening;
    if (end_of(fd) == wanted && getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening == 0)
      return fd;
  }
  return -1;
}

} // namespace

void bound_writes(natsConnection* nc, duration bound) noexcept {
  const local_end at = end_of(nc);
  if (at.port == 0) return;
  const int fd = find_socket(at);
  const auto milliseconds = static_cast<unsigned>(to_milliseconds(bound));
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

} // namespace millrace::nats::detail
