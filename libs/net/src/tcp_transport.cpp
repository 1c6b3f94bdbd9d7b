#include "handler_memory.hpp"
#include "streams.hpp"

#include <millrace/net/transport.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace millrace::net {
namespace {

namespace asio = boost::asio;

/// One io_context, one thread. Every operation holds the connection that it belongs to; what belongs to an earlier one
/// is not told.
template <class Stream> class tcp_transport final : public transport {
  struct connection {
    connection(asio::io_context& io, asio::ssl::context* tls, std::size_t room) : stream(io, tls), input(room) {}
    Stream stream;
    std::vector<char> input;
    std::size_t filled = 0;
  };
  using connection_ptr = std::shared_ptr<connection>;

  /// What handlers refer to that never run: they end with the io_context.
  struct event_loop {
    handler_memory wake_memory;
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    tcp::resolver resolver{io};
  };

 public:
  tcp_transport(const tls_options* tls, std::size_t read_room) : read_room_(read_room) {
    if (tls != nullptr) tls_ = *tls;
  }
  ~tcp_transport() override {
    stop();
    if (resolving_) std::thread([loop = std::move(loop_)] {}).detach(); // its end waits for the name service
  }

  void start(transport_listener& to) override {
    listener_ = &to;
    thread_ = std::thread([this] { loop_->io.run(); });
  }

  void stop() noexcept override {
    if (!thread_.joinable()) return;
    stopped_.store(true, std::memory_order_release);
    loop_->io.stop();
    thread_.join();
    live_.reset();
  }

  void wake() noexcept override {
    if (stopped_.load(std::memory_order_acquire) || woken_.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(loop_->io, asio::bind_allocator(handler_allocator<std::byte>(loop_->wake_memory), [this] {
                 woken_.store(false, std::memory_order_release);
                 listener_->on_wake();
               }));
  }

  bool may_run_handlers() const noexcept override { return true; }

  void dial(const endpoint& to) noexcept override {
    host_ = to.host;
    if (auto ready = prepare_tls(); !ready) {
      asio::post(loop_->io, [this, why = std::move(ready).error()] { listener_->on_lost(why); });
      return;
    }
    live_ = std::make_shared<connection>(loop_->io, ssl_ ? &*ssl_ : nullptr, read_room_);
    error_code no_address;
    const auto address = asio::ip::make_address(to.host, no_address);
    if (no_address) return resolve(live_, to);
    live_->stream.socket().async_connect(tcp::endpoint(address, to.port),
                                         [this, c = live_](const error_code& failed) { dialled(c, failed); });
  }

  bool write(std::string_view bytes) noexcept override {
    if (!live_) return false;
    bytes.remove_prefix(live_->stream.write_now(bytes));
    if (bytes.empty()) return true;
    write_rest(live_, bytes);
    return false;
  }

  void drop() noexcept override {
    if (!live_) return;
    error_code ignored;
    loop_->resolver.cancel();
    live_->stream.socket().close(ignored);
    live_.reset();
  }

 private:
  std::expected<void, std::string> prepare_tls() {
    if (!tls_ || ssl_) return {};
    ssl_.emplace(asio::ssl::context::tls_client);
    auto configured = configure(*ssl_, *tls_);
    if (!configured) ssl_.reset();
    return configured;
  }

  void resolve(const connection_ptr& c, const endpoint& to) {
    resolving_ = true;
    const auto found = [this, c](const error_code& failed, const tcp::resolver::results_type& addresses) {
      resolving_ = false;
      if (c != live_) return;
      if (failed) return lost(failed, "the name");
      asio::async_connect(c->stream.socket(), addresses,
                          [this, c](const error_code& refused, const tcp::endpoint& /*at*/) { dialled(c, refused); });
    };
    loop_->resolver.async_resolve(to.host, std::to_string(to.port), found);
  }

  void dialled(const connection_ptr& c, const error_code& failed) {
    if (c != live_) return;
    if (failed) return lost(failed, "connect");
    error_code ignored;
    c->stream.socket().set_option(tcp::no_delay(true), ignored);
    c->stream.shake_hands(tls_ ? &*tls_ : nullptr, host_, [this, c](const error_code& refused) {
      if (c != live_) return;
      if (refused) return lost(refused, "TLS");
      read(c);
      listener_->on_connected();
    });
  }

  /// asio::async_write would hand the system 64 KiB at a time.
  void write_rest(const connection_ptr& c, std::string_view bytes) {
    c->stream.bytes().async_write_some(asio::buffer(bytes.data(), bytes.size()),
                                       [this, c, bytes](const error_code& failed, std::size_t n) {
                                         if (c != live_) return;
                                         if (failed) return lost(failed, "write");
                                         if (n < bytes.size()) return write_rest(c, bytes.substr(n));
                                         listener_->on_written();
                                       });
  }

  void read(const connection_ptr& c) {
    c->stream.bytes().async_read_some(asio::buffer(c->input.data() + c->filled, c->input.size() - c->filled),
                                      [this, c](const error_code& failed, std::size_t n) {
                                        if (c != live_) return;
                                        if (failed) return lost(failed, "read");
                                        received(c, n);
                                      });
  }

  void received(const connection_ptr& c, std::size_t n) {
    c->filled += n;
    const std::size_t used = listener_->on_bytes({c->input.data(), c->filled});
    if (c != live_) return;
    c->filled -= used;
    if (c->filled > 0 && used > 0) std::memmove(c->input.data(), c->input.data() + used, c->filled);
    read(c);
  }

  void lost(const error_code& ec, const char* at) {
    error_code ignored;
    live_->stream.socket().close(ignored);
    live_.reset();
    listener_->on_lost(std::string(at) + ": " + ec.message());
  }

  transport_listener* listener_ = nullptr;
  std::unique_ptr<event_loop> loop_ = std::make_unique<event_loop>();
  std::optional<tls_options> tls_;
  std::optional<asio::ssl::context> ssl_;
  std::size_t read_room_;
  connection_ptr live_;
  std::string host_;
  bool resolving_ = false;
  std::thread thread_;
  std::atomic<bool> woken_ = false;
  std::atomic<bool> stopped_ = false;
};

} // namespace

std::shared_ptr<transport> make_tcp_transport(const tls_options* tls, std::size_t read_room) {
  if (tls != nullptr) return std::make_shared<tcp_transport<tls_stream>>(tls, read_room);
  return std::make_shared<tcp_transport<plain_stream>>(nullptr, read_room);
}

} // namespace millrace::net
