#include "transport/in_process/in_process_transport.hpp"

#include "transport/in_process/server.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace millrace::rabbitmq::detail {
namespace {

using in_process::server;

/// The I/O thread is a job on the runtime: one at a time, and only where there is something to do.
class in_process_transport final : public net::transport, private job {
 public:
  in_process_transport(runtime& rt, std::shared_ptr<server> to)
      : job([](job& j) noexcept { static_cast<in_process_transport&>(j).run_turn(); }), runtime_(&rt),
        server_(std::move(to)) {}
  ~in_process_transport() override { stop(); }

  void keep(const std::shared_ptr<in_process_transport>& self) { self_ = self; }

  void start(net::transport_listener& to) override { listener_ = &to; }

  void stop() noexcept override {
    {
      std::unique_lock lock(mutex_);
      stopped_ = true;
      if (running_ != std::this_thread::get_id()) ended_.wait(lock, [this] { return running_ == std::thread::id(); });
    }
    hang_up();
  }

  void wake() noexcept override { schedule(work::wake); }

  void dial(const net::endpoint& /*to*/) noexcept override {
    hang_up();
    connection_ = server_->connect([this] { schedule(work::read); });
    dialled_ = true;
    schedule(work::io);
  }

  [[nodiscard]] bool may_run_handlers() const noexcept override { return true; }

  bool write(std::string_view bytes) noexcept override {
    writing_ = bytes;
    is_writing_ = true;
    schedule(work::io);
    return false;
  }

  void drop() noexcept override { hang_up(); }

 private:
  enum class work : std::uint8_t { wake = 1, io = 2, read = 4 };

  void hang_up() noexcept {
    if (connection_ != 0) server_->disconnect(std::exchange(connection_, 0));
    dialled_ = false;
    is_writing_ = false;
    input_.clear();
  }

  void schedule(work what) noexcept {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return;
    wanted_ |= static_cast<unsigned>(what);
    if (!scheduled_) post();
  }

  /// With the lock. The runtime holds us until the turn is over.
  void post() noexcept {
    scheduled_ = self_.lock();
    runtime_->post(*this);
  }

  void run_turn() noexcept {
    std::shared_ptr<in_process_transport> alive;
    unsigned todo = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) {
        alive = std::move(scheduled_);
        return;
      }
      todo = std::exchange(wanted_, 0);
      running_ = std::this_thread::get_id();
    }
    serve(todo);
    const std::scoped_lock lock(mutex_);
    running_ = std::thread::id();
    ended_.notify_all();
    alive = std::move(scheduled_);
    if (wanted_ != 0 && !stopped_) post();
  }

  void serve(unsigned todo) noexcept {
    const auto has = [todo](work what) { return (todo & static_cast<unsigned>(what)) != 0; };
    if (has(work::wake)) listener_->on_wake();
    if (has(work::io)) {
      if (std::exchange(dialled_, false)) listener_->on_connected();
      if (is_writing_) pass_on();
    }
    if (has(work::read) && connection_ != 0) read();
  }

  void pass_on() noexcept {
    server_->receive(connection_, writing_);
    is_writing_ = false;
    listener_->on_written();
  }

  void read() noexcept {
    const auto mine = connection_;
    server_->take_output(mine, input_);
    if (input_.empty()) return;
    const std::size_t used = listener_->on_bytes(input_);
    if (mine == connection_) input_.erase(0, used);
  }

  runtime* runtime_;
  std::shared_ptr<server> server_;
  std::weak_ptr<in_process_transport> self_;
  net::transport_listener* listener_ = nullptr;

  // Of the turn.
  server::id connection_ = 0;
  std::string_view writing_;
  bool is_writing_ = false;
  bool dialled_ = false;
  std::string input_;

  std::mutex mutex_;
  // Guarded by it.
  std::condition_variable ended_;
  std::shared_ptr<in_process_transport> scheduled_; ///< ourselves, while the runtime has the job
  std::thread::id running_;
  unsigned wanted_ = 0;
  bool stopped_ = false;
};

} // namespace

std::shared_ptr<net::transport> make_in_process_transport(runtime& rt, const std::string& address) {
  const auto made = std::make_shared<in_process_transport>(rt, server::at(rt, address));
  made->keep(made);
  return made;
}

} // namespace millrace::rabbitmq::detail
