#include "session/delivery.hpp"

#include "wire/scripted_server.hpp"

#include <millrace/testing/virtual_runtime.hpp>

#include <algorithm>
#include <cstdlib>

namespace {

namespace wire = millrace::rabbitmq::detail;

/// Deliveries of a quorum queue with a waiting queue: everything that a delivery can do reads the peer's bytes.
struct deliveries {
  deliveries()
      : server(std::make_shared<millrace::rabbitmq::testing::scripted_server>(rt)),
        seat(std::make_shared<wire::consumer_seat>(
            std::make_shared<wire::link>(rt, wire::broker_settings(), server),
            millrace::rabbitmq::quorum_queue("q").delay(millrace::rabbitmq::delay::waiting_queue()).spec())),
        pool(wire::delivery_pool::make(seat)) {
    seat->gate.open = true;
  }
  millrace::testing::virtual_runtime rt;
  std::shared_ptr<millrace::rabbitmq::testing::scripted_server> server;
  std::shared_ptr<wire::consumer_seat> seat;
  wire::delivery_pool::owner pool;
};

/// The next piece of the input, by a length of two bytes.
std::string_view piece(wire::reader& in) {
  const std::size_t wanted = in.u16();
  return in.take(std::min(wanted, in.rest().size()));
}

void read_all(wire::delivery& d, std::size_t body_size) {
  d.finish();
  if (d.payload().size() != body_size) std::abort();
  (void)d.subject();
  (void)d.headers();
  (void)d.reply_to();
  (void)d.partition_key();
  if (d.delivery_count() == 0) std::abort(); // counted from 1
  (void)d.settle({millrace::settlement_kind::retry_after, std::chrono::seconds(1)});
}

} // namespace

/// basic.deliver, its content header and its body, in the pieces that the input says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static deliveries all;
  wire::reader in(std::string_view(reinterpret_cast<const char*>(data), size));
  wire::reader method(piece(in));
  const wire::deliver_args args(method);
  if (!method.ok()) return 0;
  wire::delivery& d = all.pool->take();
  d.begin(args, 0);
  std::size_t body_size = 0;
  bool whole = d.header(piece(in));
  while (whole && !d.complete() && !in.rest().empty()) {
    const std::string_view part = piece(in);
    whole = d.body(part);
    body_size += part.size();
  }
  if (whole && d.complete()) read_all(d, body_size);
  d.release();
  all.seat->shared->out.clear();
  return 0;
}
