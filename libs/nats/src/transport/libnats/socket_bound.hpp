#pragma once

#include <millrace/runtime.hpp>

#include <nats/nats.h>

namespace millrace::nats::detail {

/// Has the kernel give the connection up when what was written is not taken for `bound`, although the peer is there: a
/// server that reads nothing would block publishers for good. The client's own write deadline does the same at the
/// price of a look at the clock for each publish, a quarter of its whole cost. Applies to the present socket: again
/// after a reconnect. Does nothing where the socket is not found.
void bound_writes(natsConnection* nc, duration bound) noexcept;

} // namespace millrace::nats::detail
