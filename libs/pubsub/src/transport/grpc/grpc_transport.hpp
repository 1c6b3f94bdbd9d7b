#pragma once

#include "transport/transport.hpp"

#include <millrace/pubsub/options.hpp>

namespace millrace::pubsub::detail {

/// One channel to the configured host, up and ready. `errc::connect` with the host if it does not come up in time.
[[nodiscard]] task<result<std::shared_ptr<transport>>> connect_grpc(runtime& rt, settings options);

/// The host that the settings and `PUBSUB_EMULATOR_HOST` mean, and whether it is an emulator.
struct target {
  std::string host;
  bool emulator = false;
};
[[nodiscard]] target target_of(const settings& options);

} // namespace millrace::pubsub::detail
