#pragma once

#include <millrace/net/tls_options.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::net {

using boost::asio::ip::tcp;
using error_code = boost::system::error_code;

/// A TCP connection; the handshake is none.
class plain_stream {
 public:
  plain_stream(boost::asio::io_context& io, boost::asio::ssl::context* /*tls*/) : socket_(io) {}
  [[nodiscard]] tcp::socket& socket() noexcept { return socket_; }
  [[nodiscard]] tcp::socket& bytes() noexcept { return socket_; }
  template <class Done> void shake_hands(const tls_options* /*tls*/, const std::string& /*host*/, const Done& done) {
    done(error_code());
  }
  /// How many bytes the system takes at once.
  [[nodiscard]] std::size_t write_now(std::string_view bytes);

 private:
  tcp::socket socket_;
};

class tls_stream {
 public:
  tls_stream(boost::asio::io_context& io, boost::asio::ssl::context* tls) : stream_(io, *tls) {}
  [[nodiscard]] tcp::socket& socket() noexcept { return stream_.next_layer(); }
  [[nodiscard]] boost::asio::ssl::stream<tcp::socket>& bytes() noexcept { return stream_; }
  template <class Done> void shake_hands(const tls_options* tls, const std::string& host, Done done) {
    expect_name(*tls, host);
    stream_.async_handshake(boost::asio::ssl::stream_base::client, std::move(done));
  }
  [[nodiscard]] std::size_t write_now(std::string_view /*bytes*/) noexcept { return 0; }

 private:
  void expect_name(const tls_options& tls, const std::string& host);
  boost::asio::ssl::stream<tcp::socket> stream_;
};

/// Reads the files. The error names the one that cannot be read.
[[nodiscard]] std::expected<void, std::string> configure(boost::asio::ssl::context& context, const tls_options& tls);

} // namespace millrace::net
