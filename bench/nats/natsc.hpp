#pragma once

#include <nats/nats.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

inline void check(natsStatus status, const char* what) {
  if (status == NATS_OK) [[likely]]
    return;
  std::fprintf(stderr, "bench_nats: %s: %s\n", what, natsStatus_GetText(status));
  std::_Exit(1);
}

/// A connection of nats.c. `bounded`: configured as ours are, where it costs: a write to a server that does not read
/// gives up after 5 s, for which the client asks the clock at each publish. Otherwise with the defaults of nats.c.
class connection {
 public:
  explicit connection(const std::string& url, bool bounded = true) {
    natsOptions* how = nullptr;
    check(natsOptions_Create(&how), "options");
    check(natsOptions_SetURL(how, url.c_str()), "url");
    if (bounded) check(natsOptions_SetWriteDeadline(how, 5000), "write deadline");
    check(natsConnection_Connect(&nc_, how), "connect");
    natsOptions_Destroy(how);
  }
  ~connection() { natsConnection_Destroy(nc_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  [[nodiscard]] natsConnection* get() const noexcept { return nc_; }

 private:
  natsConnection* nc_ = nullptr;
};

} // namespace bench
