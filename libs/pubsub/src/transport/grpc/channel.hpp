#pragma once

#include <millrace/error.hpp>
#include <millrace/pubsub/options.hpp>

#include <grpcpp/channel.h>

#include <memory>
#include <string>

namespace millrace::pubsub::detail {

/// Reads the credentials and makes the channel, which may block. It dials nobody yet.
[[nodiscard]] result<std::shared_ptr<grpc::Channel>> make_channel(const settings& options, const std::string& host,
                                                                  bool emulator);

/// Dials and blocks until the channel is ready, its first attempt failed, or the bound ran out.
[[nodiscard]] result<void> wait_until_ready(grpc::Channel& channel, const std::string& host, duration bound);

} // namespace millrace::pubsub::detail
