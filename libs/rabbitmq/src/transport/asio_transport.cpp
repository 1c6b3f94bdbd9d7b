#include "protocol/frame.hpp"
#include "transport/handler_memory.hpp"
#include "transport/transport.hpp"

#include <millrace/rabbitmq/errors.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace millrace::rabbitmq::detail {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using error_code = boost::system::error_code;

constexpr std::size_t read_room = 2UL * largest_frame;

std::unexpected<error> bad_file(const char* what, const std::string& path, const error_code& ec) {
  return fail(errc::connect, std::string(what) + " '" + path + "': " + ec.message());
}

result<void> configure(asio::ssl::context& context, const tls_options& tls) {
  error_code ec;
  if (tls.verifies()) (void)context.set_verify_mode(asio::ssl::verify_peer, ec);
  if (tls.authorities().empty())
    (void)context.set_default_verify_paths(ec);
  else if (context.load_verify_file(tls.authorities(), ec); ec)
    return bad_file("the authorities' file", tls.authorities(), ec);
  if (tls.chain().empty()) return {};
  if (context.use_certificate_chain_file(tls.chain(), ec); ec) return bad_file("the certificate", tls.chain(), ec);
  if (context.use_private_key_file(tls.key(), asio::ssl::context::pem, ec); ec)
    return bad_file("the key", tls.key(), ec);
  return {};
}

/// A TCP connection, and the read buffer that belongs to it.
struct plain_connection {
  explicit plain_connection(asio::io_context& io, asio::ssl::context* /*tls*/) : stream(io) {}
  tcp::socket stream;
  std::vector<char> input = std::vector<char>(read_room);
  std::size_t filled = 0;
  [[nodiscard]] tcp::socket& socket() noexcept { return stream; }
  [[nodiscard]] result<void> prepare(const tls_options* /*tls*/, const std::string& /*host*/) { return {}; }
  template <class Done> void shake_hands(Done&& done) { std::forward<Done>(done)(error_code()); }
};

struct tls_connection {
  explicit tls_connection(asio::io_context& io, asio::ssl::context* tls) : stream(io, *tls) {}
  asio::ssl::stream<tcp::socket> stream;
  std::vector<char> input = std::vector<char>(read_room);
  std::size_t filled = 0;
  [[nodiscard]] tcp::socket& socket() noexcept { return stream.next_layer(); }
  [[nodiscard]] result<void> prepare(const tls_options* tls, const std::string& host) {
    const std::string& name = tls->hostname().empty() ? host : tls->hostname();
    SSL_set_tlsext_host_name(stream.native_handle(), name.c_str());
    error_code ec;
    if (tls->verifies()) (void)stream.set_verify_callback(asio::ssl::host_name_verification(name), ec);
    return {};
  }
  template <class Done> void shake_hands(Done&& done) {
    stream.async_handshake(asio::ssl::stream_base::client, std::forward<Done>(done));
  }
};

template <class Connection> class asio_transport final : public transport {
 public:
  explicit asio_transport(const tls_options* tls) {
    if (tls != nullptr) tls_ = *tls;
  }
  ~asio_transport() override {
    stop();
    if (resolving_) std::thread([context = std::move(context_)] {}).detach(); // it waits for the name service
  }

  void start(transport_listener& to) override {
    listener_ = &to;
    thread_ = std::thread([this] { context_->run(); });
  }

  void stop() noexcept override {
    if (!thread_.joinable()) return;
    stopped_.store(true);
    context_->stop();
    thread_.join();
    live_.reset();
  }

  void wake() noexcept override {
    if (wake_pending_.exchange(true, std::memory_order_acq_rel) || stopped_.load(std::memory_order_acquire)) return;
    asio::post(*context_, asio::bind_allocator(handler_allocator<std::byte>(wake_memory_), [this] {
      wake_pending_.store(false, std::memory_order_release);
      listener_->on_wake();
    }));
  }

  void dial(const endpoint& to) noexcept override {
    host_ = to.host;
    if (tls_ && !ssl_) {
      ssl_.emplace(asio::ssl::context::tls_client);
      if (auto configured = configure(*ssl_, *tls_); !configured) {
        ssl_.reset();
        return lost_soon(std::move(configured).error());
      }
    }
    auto c = std::make_shared<Connection>(*context_, ssl_ ? &*ssl_ : nullptr);
    live_ = c;
    error_code ec;
    const auto literal = asio::ip::make_address(to.host, ec);
    if (!ec) {
      const tcp::endpoint only(literal, to.port);
      return c->socket().async_connect(only, [this, c](const error_code& failed) { connected(c, failed); });
    }
    resolving_ = true;
    resolver_.async_resolve(
        to.host, std::to_string(to.port),
        [this, c](const error_code& failed, const tcp::resolver::results_type& found) {
          resolving_ = false;
          if (c != live_) return;
          if (failed) return lost(c, failed, "the name");
          asio::async_connect(c->socket(), found,
                              [this, c](const error_code& refused, const tcp::endpoint&) { connected(c, refused); });
        });
  }

  void write(std::string_view bytes) noexcept override {
    if (live_) write_rest(live_, bytes);
  }

  void drop() noexcept override {
    if (!live_) return;
    error_code ignored;
    resolver_.cancel();
    live_->socket().close(ignored);
    live_.reset();
  }

 private:
  using pointer = std::shared_ptr<Connection>;

  void lost(const pointer& c, const error_code& ec, const char* at) {
    error_code ignored;
    c->socket().close(ignored);
    live_.reset();
    listener_->on_lost(error(errc::connect, std::string(at) + ": " + ec.message()));
  }

  void lost_soon(error why) {
    asio::post(*context_, [this, why = std::move(why)] { listener_->on_lost(why); });
  }

  void connected(const pointer& c, const error_code& failed) {
    if (c != live_) return;
    if (failed) return lost(c, failed, "connect");
    error_code ignored;
    c->socket().set_option(tcp::no_delay(true), ignored);
    (void)c->prepare(tls_ ? &*tls_ : nullptr, host_);
    c->shake_hands([this, c](const error_code& refused) {
      if (c != live_) return;
      if (refused) return lost(c, refused, "TLS");
      read(c);
      listener_->on_connected();
    });
  }

  /// asio::async_write would hand the system 64 KiB at a time.
  void write_rest(const pointer& c, std::string_view bytes) {
    c->stream.async_write_some(asio::buffer(bytes.data(), bytes.size()),
                               [this, c, bytes](const error_code& failed, std::size_t n) {
                                 if (c != live_) return;
                                 if (failed) return lost(c, failed, "write");
                                 if (n < bytes.size()) return write_rest(c, bytes.substr(n));
                                 listener_->on_written();
                               });
  }

  void read(const pointer& c) {
    c->stream.async_read_some(asio::buffer(c->input.data() + c->filled, c->input.size() - c->filled),
                              [this, c](const error_code& failed, std::size_t n) {
                                if (c != live_) return;
                                if (failed) return lost(c, failed, "read");
                                received(c, n);
                              });
  }

  void received(const pointer& c, std::size_t n) {
    c->filled += n;
    const std::size_t used = listener_->on_bytes({c->input.data(), c->filled});
    if (c != live_) return;
    c->filled -= used;
    if (c->filled > 0 && used > 0) std::memmove(c->input.data(), c->input.data() + used, c->filled);
    read(c);
  }

  transport_listener* listener_ = nullptr;
  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_->get_executor()};
  tcp::resolver resolver_{*context_};
  std::optional<tls_options> tls_;
  std::optional<asio::ssl::context> ssl_;
  pointer live_;
  std::string host_;
  bool resolving_ = false;
  std::thread thread_;
  handler_memory wake_memory_;
  std::atomic<bool> wake_pending_ = false;
  std::atomic<bool> stopped_ = false;
};

} // namespace

std::shared_ptr<transport> make_asio_transport(const tls_options* tls) {
  if (tls != nullptr) return std::make_shared<asio_transport<tls_connection>>(tls);
  return std::make_shared<asio_transport<plain_connection>>(nullptr);
}

} // namespace millrace::rabbitmq::detail
