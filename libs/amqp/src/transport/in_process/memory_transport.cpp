#include "transport/in_process/memory_transport.hpp"

#include "transport/in_process/local_broker.hpp"

#include <millrace/amqp/errors.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace millrace::amqp::detail {
namespace {

/// Turns never overlap; each is one job of the runtime, and goes on until both sides have nothing to say.
class memory_transport final : public net::transport, public std::enable_shared_from_this<memory_transport> {
 public:
  memory_transport(runtime& rt, find_peer find) : runtime_(&rt), find_(std::move(find)), job_(*this) {}

  void start(net::transport_listener& to) override { listener_ = &to; }

  void stop() noexcept override {
    const std::scoped_lock lock(turn_);
    listener_ = nullptr;
    peer_.reset();
  }

  void wake() noexcept override {
    woken_.store(true, std::memory_order_release);
    schedule();
  }

  [[nodiscard]] bool may_run_handlers() const noexcept override { return false; }

  void dial(const net::endpoint& to) noexcept override {
    peer_ = find_(to);
    dialled_ = true;
    writing_ = {};
  }
  bool write(std::string_view bytes) noexcept override {
    writing_ = bytes;
    return false;
  }
  void drop() noexcept override {
    dropped_ = std::move(peer_);
    dialled_ = false;
    writing_ = {};
  }

 private:
  struct turn_job : job {
    explicit turn_job(memory_transport& t) noexcept
        : job([](job& j) noexcept { static_cast<turn_job&>(j).owner->run(); }), owner(&t) {}
    memory_transport* owner;
  };

  /// The job holds the transport until it has run.
  void schedule() noexcept {
    if (scheduled_.exchange(true, std::memory_order_acq_rel)) return;
    self_ = shared_from_this();
    runtime_->post(job_);
  }

  void run() noexcept {
    const auto self = std::move(self_);
    scheduled_.store(false, std::memory_order_release);
    const std::scoped_lock lock(turn_);
    while (listener_ != nullptr && step())
      dropped_.reset();
  }

  /// True: something happened.
  bool step() noexcept {
    if (woken_.exchange(false, std::memory_order_acq_rel)) return listener_->on_wake(), true;
    if (std::exchange(dialled_, false)) return connect();
    if (!peer_) return false;
    if (!writing_.empty()) {
      peer_->input(std::exchange(writing_, {}));
      return listener_->on_written(), true;
    }
    output_.clear();
    peer_->output(output_);
    if (!output_.empty()) return (void)listener_->on_bytes(output_), true;
    if (!peer_->is_gone()) return false;
    drop();
    return listener_->on_lost("the peer hung up"), true;
  }

  bool connect() noexcept {
    if (peer_)
      listener_->on_connected();
    else
      listener_->on_lost("nobody is there");
    return true;
  }

  runtime* runtime_;
  find_peer find_;
  turn_job job_;
  std::atomic<bool> scheduled_ = false;
  std::atomic<bool> woken_ = false;
  std::shared_ptr<memory_transport> self_;
  std::mutex turn_;
  // Guarded by the turn.
  net::transport_listener* listener_ = nullptr;
  std::unique_ptr<memory_peer> peer_;
  std::unique_ptr<memory_peer> dropped_; ///< freed when nobody is inside it
  bool dialled_ = false;
  std::string_view writing_;
  std::string output_;
};

} // namespace

std::shared_ptr<net::transport> make_memory_transport(runtime& rt, find_peer find) {
  return std::make_shared<memory_transport>(rt, std::move(find));
}

std::shared_ptr<net::transport> make_local_transport(runtime& rt) {
  return make_memory_transport(rt, [](const net::endpoint& /*to*/) { return std::make_unique<local_broker>(); });
}

} // namespace millrace::amqp::detail
