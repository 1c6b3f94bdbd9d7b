#pragma once

#include "protocol/address.hpp"

#include <millrace/nats/options.hpp>

#include <nats/nats.h>

#include <memory>
#include <vector>

namespace millrace::nats::detail {

struct destroy_options {
  void operator()(natsOptions* options) const noexcept { natsOptions_Destroy(options); }
};
using options_handle = std::unique_ptr<natsOptions, destroy_options>;

/// The client's options for these settings, all but the callbacks. Reads the named files; an error names the option,
/// never its secret.
[[nodiscard]] result<options_handle> make_options(const connect_settings& settings,
                                                  const std::vector<address>& servers);

/// The pause before the next round of reconnect attempts (the first is 1): doubles up to its bound, less a random
/// share.
[[nodiscard]] std::int64_t reconnect_pause_milliseconds(const connect_settings& settings, int round) noexcept;

} // namespace millrace::nats::detail
