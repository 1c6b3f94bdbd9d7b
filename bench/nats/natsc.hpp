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

/// A connection of nats.c with its default options.
class connection {
 public:
  explicit connection(const std::string& url) { check(natsConnection_ConnectTo(&nc_, url.c_str()), "connect"); }
  ~connection() { natsConnection_Destroy(nc_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  [[nodiscard]] natsConnection* get() const noexcept { return nc_; }

 private:
  natsConnection* nc_ = nullptr;
};

} // namespace bench
