#pragma once

#include "protocol/method.hpp"
#include "protocol/uri.hpp"

#include <millrace/net/transport.hpp>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

/// A client of a few lines, over a transport: sends frames as they are and writes down, a line each, what comes back.
/// What differs from run to run (names that the server makes up, times) is left out of the lines.
class raw_client final : public net::transport_listener {
 public:
  raw_client(std::shared_ptr<net::transport> io, const std::string& uri);
  ~raw_client();

  using build = std::function<void(std::string& out)>;
  /// Sends what `what` appends, addressed to `channel`, and waits for that many lines.
  void send(std::uint16_t channel, std::size_t lines, const build& what);
  /// Waits for one more line that nothing sent asks for.
  void expect(std::size_t lines);
  /// What came so far.
  [[nodiscard]] std::vector<std::string> said();

  void on_connected() noexcept override;
  std::size_t on_bytes(std::string_view input) noexcept override;
  void on_written() noexcept override;
  void on_lost(std::string why) noexcept override;
  void on_wake() noexcept override;

 private:
  void on_frame(const detail::frame& f);
  void on_method(const detail::frame& f);
  void on_confirm(std::uint16_t channel, const char* what, const detail::confirm_args& confirm);
  void on_content(const detail::frame& f);
  void line(std::string text);
  void wait_for(std::size_t lines);
  void flush();

  std::shared_ptr<net::transport> io_;
  detail::target to_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
  std::string out_;
  std::string writing_;
  bool busy_ = false;
  bool dialled_ = false;
  std::size_t seen_ = 0;
  std::string content_; ///< the line of a message that is arriving
  std::uint64_t missing_ = 0;
  std::map<std::uint16_t, std::uint64_t> confirmed_; ///< the last one of each channel
};

} // namespace millrace::rabbitmq::testing
