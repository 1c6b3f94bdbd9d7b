#include "listener.hpp"

#include "failure.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace millrace::testing::conformance {

listener::listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  const bool open =
      bind(socket_, address, size) == 0 && listen(socket_, 8) == 0 && getsockname(socket_, address, &size) == 0;
  expect(open, "this machine has no free port on 127.0.0.1");
  port_ = ntohs(at.sin_port);
}

listener::~listener() { close(); }

bool listener::was_dialled() const {
  pollfd waiting{socket_, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

void listener::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

} // namespace millrace::testing::conformance
