#include "transport/transport.hpp"

#include <millrace/amqp/errors.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace millrace::amqp::detail {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using error_code = boost::system::error_code;

constexpr std::size_t read_size = 128UL * 1024;

result<void> load(asio::ssl::context& context, const tls_options& tls) {
  error_code ec;
  const auto bad = [&](const char* what, const std::string& path) {
    return fail(errc::connect, std::string(what) + " '" + path + "': " + ec.message());
  };
  (void)context.set_verify_mode(tls.verifies() ? asio::ssl::verify_peer : asio::ssl::verify_none, ec);
  if (tls.authorities().empty())
    (void)context.set_default_verify_paths(ec);
  else if (context.load_verify_file(tls.authorities(), ec); ec)
    return bad("the authorities' file", tls.authorities());
  if (tls.chain().empty()) return {};
  if (context.use_certificate_chain_file(tls.chain(), ec); ec) return bad("the certificate", tls.chain());
  if (context.use_private_key_file(tls.key(), asio::ssl::context::pem, ec); ec) return bad("the key", tls.key());
  return {};
}

/// A TCP connection; the handshake is none.
class plain_stream {
 public:
  plain_stream(asio::io_context& io, asio::ssl::context* /*tls*/) : socket_(io) {}
  [[nodiscard]] tcp::socket& socket() noexcept { return socket_; }
  [[nodiscard]] tcp::socket& bytes() noexcept { return socket_; }
  template <class Done> void shake_hands(const tls_options* /*tls*/, const std::string& /*host*/, const Done& done) {
    done(error_code());
  }
  /// What the system takes at once.
  [[nodiscard]] std::size_t write_now(std::string_view bytes) {
    error_code failed; // the write that follows meets it again
    if (!socket_.non_blocking()) (void)socket_.non_blocking(true, failed);
    return socket_.write_some(asio::buffer(bytes.data(), bytes.size()), failed);
  }

 private:
  tcp::socket socket_;
};

class tls_stream {
 public:
  tls_stream(asio::io_context& io, asio::ssl::context* tls) : stream_(io, *tls) {}
  [[nodiscard]] tcp::socket& socket() noexcept { return stream_.next_layer(); }
  [[nodiscard]] asio::ssl::stream<tcp::socket>& bytes() noexcept { return stream_; }
  template <class Done> void shake_hands(const tls_options* tls, const std::string& host, Done done) {
    const std::string& name = tls->hostname().empty() ? host : tls->hostname();
    SSL_set_tlsext_host_name(stream_.native_handle(), name.c_str());
    error_code ec;
    if (tls->verifies()) (void)stream_.set_verify_callback(asio::ssl::host_name_verification(name), ec);
    stream_.async_handshake(asio::ssl::stream_base::client, std::move(done));
  }
  [[nodiscard]] std::size_t write_now(std::string_view /*bytes*/) { return 0; }

 private:
  asio::ssl::stream<tcp::socket> stream_;
};

/// One io_context, one thread. Every operation holds the connection that it belongs to; what belongs to an earlier one
/// is not told.
template <class Stream> class asio_transport final : public transport {
  struct attempt {
    attempt(asio::io_context& io, asio::ssl::context* tls) : stream(io, tls) {}
    Stream stream;
    std::vector<char> input = std::vector<char>(read_size);
  };
  using attempt_ptr = std::shared_ptr<attempt>;

 public:
  explicit asio_transport(const tls_options* tls) {
    if (tls != nullptr) tls_ = *tls;
  }
  ~asio_transport() override {
    stop();
    if (resolving_) std::thread([io = std::move(io_)] {}).detach(); // it waits for the name service
  }

  void start(transport_listener& to) override {
    listener_ = &to;
    thread_ = std::thread([this] { io_->run(); });
  }

  void stop() noexcept override {
    if (!thread_.joinable()) return;
    stopped_.store(true, std::memory_order_release);
    io_->stop();
    thread_.join();
    live_.reset();
  }

  void wake() noexcept override {
    if (stopped_.load(std::memory_order_acquire) || woken_.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(*io_, [this] {
      woken_.store(false, std::memory_order_release);
      listener_->on_wake();
    });
  }

  bool may_run_handlers() const noexcept override { return true; }

  void dial(const endpoint& to) noexcept override {
    host_ = to.host;
    if (tls_ && !ssl_) {
      ssl_.emplace(asio::ssl::context::tls_client);
      if (auto loaded = load(*ssl_, *tls_); !loaded) {
        ssl_.reset();
        asio::post(*io_, [this, why = loaded.error()] { listener_->on_lost(why); });
        return;
      }
    }
    const auto mine = std::make_shared<attempt>(*io_, ssl_ ? &*ssl_ : nullptr);
    live_ = mine;
    error_code ec;
    const auto literal = asio::ip::make_address(to.host, ec);
    if (ec) return resolve(mine, to);
    mine->stream.socket().async_connect(tcp::endpoint(literal, to.port),
                                        [this, mine](const error_code& failed) { dialled(mine, failed); });
  }

  bool write(std::string_view bytes) noexcept override {
    if (!live_) return false;
    bytes.remove_prefix(live_->stream.write_now(bytes));
    if (bytes.empty()) return true;
    asio::async_write(live_->stream.bytes(), asio::buffer(bytes.data(), bytes.size()),
                      [this, mine = live_](const error_code& failed, std::size_t /*n*/) {
                        if (mine != live_) return;
                        if (failed) return lost(mine, failed, "write");
                        listener_->on_written();
                      });
    return false;
  }

  void drop() noexcept override {
    if (!live_) return;
    error_code ignored;
    resolver_.cancel();
    live_->stream.socket().close(ignored);
    live_.reset();
  }

 private:
  void resolve(const attempt_ptr& mine, const endpoint& to) {
    resolving_ = true;
    const auto found = [this, mine](const error_code& failed, const tcp::resolver::results_type& addresses) {
      resolving_ = false;
      if (mine != live_) return;
      if (failed) return lost(mine, failed, "the name");
      asio::async_connect(
          mine->stream.socket(), addresses,
          [this, mine](const error_code& refused, const tcp::endpoint& /*at*/) { dialled(mine, refused); });
    };
    resolver_.async_resolve(to.host, std::to_string(to.port), found);
  }

  void dialled(const attempt_ptr& mine, const error_code& failed) {
    if (mine != live_) return;
    if (failed) return lost(mine, failed, "connect");
    error_code ignored;
    mine->stream.socket().set_option(tcp::no_delay(true), ignored);
    mine->stream.shake_hands(tls_ ? &*tls_ : nullptr, host_, [this, mine](const error_code& refused) {
      if (mine != live_) return;
      if (refused) return lost(mine, refused, "TLS");
      read(mine);
      listener_->on_connected();
    });
  }

  void read(const attempt_ptr& mine) {
    mine->stream.bytes().async_read_some(asio::buffer(mine->input),
                                         [this, mine](const error_code& failed, std::size_t n) {
                                           if (mine != live_) return;
                                           if (failed) return lost(mine, failed, "read");
                                           listener_->on_bytes({mine->input.data(), n});
                                           if (mine == live_) read(mine);
                                         });
  }

  void lost(const attempt_ptr& mine, const error_code& ec, const char* at) {
    error_code ignored;
    mine->stream.socket().close(ignored);
    live_.reset();
    listener_->on_lost(error(errc::connect, std::string(at) + ": " + ec.message()));
  }

  transport_listener* listener_ = nullptr;
  std::shared_ptr<asio::io_context> io_ = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_->get_executor()};
  tcp::resolver resolver_{*io_};
  std::optional<tls_options> tls_;
  std::optional<asio::ssl::context> ssl_;
  attempt_ptr live_;
  std::string host_;
  bool resolving_ = false;
  std::thread thread_;
  std::atomic<bool> woken_ = false;
  std::atomic<bool> stopped_ = false;
};

} // namespace

std::shared_ptr<transport> make_asio_transport(const tls_options* tls) {
  if (tls != nullptr) return std::make_shared<asio_transport<tls_stream>>(tls);
  return std::make_shared<asio_transport<plain_stream>>(nullptr);
}

} // namespace millrace::amqp::detail
