#include "streams.hpp"

namespace millrace::net {

namespace ssl = boost::asio::ssl;

std::size_t plain_stream::write_now(std::string_view bytes) {
  error_code failed; // the write that follows meets it again
  if (!socket_.non_blocking()) (void)socket_.non_blocking(true, failed);
  return socket_.write_some(boost::asio::buffer(bytes.data(), bytes.size()), failed);
}

void tls_stream::expect_name(const tls_options& tls, const std::string& host) {
  const std::string& name = tls.hostname().empty() ? host : tls.hostname();
  SSL_set_tlsext_host_name(stream_.native_handle(), name.c_str());
  error_code ec;
  if (tls.verifies()) (void)stream_.set_verify_callback(ssl::host_name_verification(name), ec);
}

std::expected<void, std::string> configure(ssl::context& context, const tls_options& tls) {
  error_code ec;
  const auto bad = [&ec](const char* what, const std::string& path) {
    return std::unexpected(std::string(what) + " '" + path + "': " + ec.message());
  };
  (void)context.set_verify_mode(tls.verifies() ? ssl::verify_peer : ssl::verify_none, ec);
  if (tls.authorities().empty())
    (void)context.set_default_verify_paths(ec);
  else if (context.load_verify_file(tls.authorities(), ec); ec)
    return bad("the authorities' file", tls.authorities());
  if (tls.chain().empty()) return {};
  if (context.use_certificate_chain_file(tls.chain(), ec); ec) return bad("the certificate", tls.chain());
  if (context.use_private_key_file(tls.key(), ssl::context::pem, ec); ec) return bad("the key", tls.key());
  return {};
}

} // namespace millrace::net
