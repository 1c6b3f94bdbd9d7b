#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace millrace::nats::test {

/// A free loopback port that no other test process takes while this lives: its number is claimed by an abstract socket,
/// which the kernel gives back however the process ends. A port that was only free a moment ago went to two servers of
/// parallel tests, now and then.
class claimed_port {
 public:
  claimed_port() {
    for (int tries = 0; tries < 100; ++tries) {
      number_ = free_now();
      if (claim()) return;
    }
    throw std::runtime_error("no free port");
  }
  claimed_port(const claimed_port&) = delete;
  claimed_port& operator=(const claimed_port&) = delete;
  ~claimed_port() { ::close(claim_); }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  [[nodiscard]] static int free_now() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                       getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0;
    ::close(fd);
    if (!bound) throw std::runtime_error("bind");
    return ntohs(at.sin_port);
  }

  [[nodiscard]] bool claim() {
    const std::string name = "millrace-test-port-" + std::to_string(number_);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    claim_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(claim_, reinterpret_cast<const sockaddr*>(&at), size) == 0) return true;
    ::close(claim_);
    return false;
  }

  int number_ = 0;
  int claim_ = -1;
};

} // namespace millrace::nats::test
