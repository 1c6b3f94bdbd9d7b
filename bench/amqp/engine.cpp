// The floor: Proton's engine alone, over a blocking socket. What a client adds to it is the client's own.
#include "bare.hpp"
#include "sides.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <proton/connection.h>
#include <proton/connection_driver.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/terminus.h>
#include <proton/transport.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace bench::engine {
namespace {

int dial(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(where.substr(0, colon).c_str(), where.substr(colon + 1).c_str(), &hints, &found) != 0) std::_Exit(1);
  const int fd = socket(found->ai_family, SOCK_STREAM, 0);
  if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) std::_Exit(1);
  freeaddrinfo(found);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/// A receiving link that accepts each message.
class reader {
 public:
  reader(const run_options& options, meter& m) : meter_(&m), to_(options.url), fd_(dial(to_.where)) {
    pn_connection_driver_init(&driver_, nullptr, nullptr);
    pn_connection_t* const c = driver_.connection;
    pn_sasl_t* const login = pn_sasl(driver_.transport);
    pn_sasl_allowed_mechs(login, "PLAIN");
    pn_sasl_set_allow_insecure_mechs(login, true);
    pn_connection_set_user(c, to_.user.c_str());
    pn_connection_set_password(c, to_.password.c_str());
    pn_connection_set_container(c, "bench");
    pn_connection_open(c);
    pn_connection_driver_bind(&driver_);
    pn_session_t* const s = pn_session(c);
    pn_session_open(s);
    pn_link_t* const link = pn_receiver(s, "reader");
    pn_terminus_set_address(pn_link_source(link), options.queue.c_str());
    pn_link_open(link);
    pn_link_flow(link, window);
  }
  ~reader() {
    pn_connection_driver_destroy(&driver_);
    close(fd_);
  }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  void run() {
    while (!meter_->over()) {
      write_all();
      const pn_rwbytes_t room = pn_connection_driver_read_buffer(&driver_);
      const ssize_t n = recv(fd_, room.start, room.size, 0);
      if (n <= 0) std::_Exit(1);
      pn_connection_driver_read_done(&driver_, static_cast<std::size_t>(n));
      while (pn_event_t* const e = pn_connection_driver_next_event(&driver_))
        if (pn_event_type(e) == PN_DELIVERY) delivered(pn_event_delivery(e));
    }
  }

 private:
  void write_all() {
    while (true) {
      const pn_bytes_t out = pn_connection_driver_write_buffer(&driver_);
      if (out.size == 0) return;
      const ssize_t n = send(fd_, out.start, out.size, MSG_NOSIGNAL);
      if (n <= 0) std::_Exit(1);
      pn_connection_driver_write_done(&driver_, static_cast<std::size_t>(n));
    }
  }
  void delivered(pn_delivery_t* d) {
    pn_link_t* const link = pn_delivery_link(d);
    if (!pn_delivery_readable(d) || pn_delivery_partial(d)) return;
    meter_->message(static_cast<std::uint64_t>(pn_link_recv(link, room_.data(), room_.size())));
    pn_link_advance(link);
    pn_delivery_update(d, PN_ACCEPTED);
    pn_delivery_settle(d);
    if (pn_link_credit(link) < window * 3 / 4) pn_link_flow(link, window - pn_link_credit(link));
  }
  meter* meter_;
  bare::address to_;
  int fd_;
  pn_connection_driver_t driver_;
  std::array<char, 4096> room_{};
};

} // namespace

int consume(const run_options& options) {
  meter m(options.messages);
  reader(options, m).run();
  m.report();
  return 0;
}

} // namespace bench::engine
