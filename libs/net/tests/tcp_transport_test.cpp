#include <millrace/net/transport.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>

namespace millrace::net {
namespace {

using boost::asio::ip::tcp;
using namespace std::chrono_literals;

constexpr std::size_t room = 64;
/// No server is asked for a label of 64 characters.
const endpoint nowhere{std::string(64, 'x'), 1};

/// A server for one client at a time, on a port that was free.
class peer {
 public:
  [[nodiscard]] endpoint at() const { return {"127.0.0.1", acceptor_.local_endpoint().port()}; }
  void accept() { acceptor_.accept(socket_); }
  void say(std::string_view text) { boost::asio::write(socket_, boost::asio::buffer(text)); }
  std::string hear(std::size_t n) {
    std::string text(n, ' ');
    boost::asio::read(socket_, boost::asio::buffer(text));
    return text;
  }
  void hang_up() { socket_.close(); }

 private:
  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  tcp::socket socket_{io_};
};

/// Does what it is given on the transport's thread, and keeps what it is told.
class client final : public transport_listener {
 public:
  explicit client(const tls_options* tls = nullptr) : io_(make_tcp_transport(tls, room)) { io_->start(*this); }
  ~client() { io_->stop(); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  void run(std::function<void(transport&)> work) {
    {
      const std::scoped_lock lock(mutex_);
      work_.push_back(std::move(work));
    }
    io_->wake();
  }
  void dial(const endpoint& to) {
    run([to](transport& io) { io.dial(to); });
  }
  /// Waits until something that begins so was told.
  [[nodiscard]] bool told(const std::string& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] {
      return std::ranges::any_of(told_, [&](const std::string& text) { return text.starts_with(what); });
    });
  }
  [[nodiscard]] std::vector<std::string> all() {
    const std::scoped_lock lock(mutex_);
    return told_;
  }
  std::size_t uses = room; ///< bytes of each input, at most

  void on_connected() noexcept override { tell("connected"); }
  std::size_t on_bytes(std::string_view input) noexcept override {
    tell("bytes " + std::string(input));
    return std::min(uses, input.size());
  }
  void on_written() noexcept override { tell("written"); }
  void on_lost(std::string why) noexcept override { tell("lost " + why); }
  void on_wake() noexcept override {
    std::vector<std::function<void(transport&)>> todo;
    {
      const std::scoped_lock lock(mutex_);
      todo.swap(work_);
    }
    for (const auto& work : todo)
      work(*io_);
    tell("woken");
  }

 private:
  void tell(std::string what) {
    const std::scoped_lock lock(mutex_);
    told_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
  std::vector<std::function<void(transport&)>> work_;
  std::shared_ptr<transport> io_;
};

TEST(net_tcp_transport, what_was_not_used_comes_again_with_more_behind_it) {
  peer server;
  client c;
  c.uses = 2;
  c.dial(server.at());
  server.accept();
  ASSERT_TRUE(c.told("connected"));
  server.say("abc");
  ASSERT_TRUE(c.told("bytes abc"));
  server.say("de");
  EXPECT_TRUE(c.told("bytes cde"));
}

TEST(net_tcp_transport, what_the_system_does_not_take_at_once_is_told_when_it_did) {
  peer server;
  client c;
  const std::string large(16UL * 1024 * 1024, 'x');
  bool at_once = true;
  c.dial(server.at());
  server.accept();
  ASSERT_TRUE(c.told("connected"));
  c.run([&](transport& io) { at_once = io.write("small"); });
  EXPECT_EQ(server.hear(5), "small");
  c.run([&](transport& io) { at_once = at_once && !io.write(large); });
  EXPECT_EQ(server.hear(large.size()), large);
  EXPECT_TRUE(c.told("written"));
  EXPECT_TRUE(at_once);
}

TEST(net_tcp_transport, a_dial_that_fails_and_a_peer_that_goes_are_told_apart) {
  peer server;
  client c;
  c.dial(server.at());
  server.accept();
  ASSERT_TRUE(c.told("connected"));
  server.hang_up();
  EXPECT_TRUE(c.told("lost read: End of file"));
  endpoint nobody;
  {
    const peer gone;
    nobody = gone.at();
  }
  c.dial(nobody);
  EXPECT_TRUE(c.told("lost connect: Connection refused"));
  c.dial(nowhere);
  EXPECT_TRUE(c.told("lost the name: "));
}

TEST(net_tcp_transport, nothing_of_a_dropped_connection_is_told) {
  peer first;
  peer second;
  client c;
  c.dial(first.at());
  first.accept();
  ASSERT_TRUE(c.told("connected"));
  c.run([&](transport& io) {
    io.drop();
    io.dial(second.at());
  });
  second.accept();
  second.say("new");
  ASSERT_TRUE(c.told("bytes new"));
  for (const auto& what : c.all())
    EXPECT_FALSE(what.starts_with("lost")) << what;
}

TEST(net_tcp_transport, a_file_of_the_tls_options_that_cannot_be_read_is_named) {
  const tls_options tls = tls_options().ca_file("/no/such/file");
  client c(&tls);
  c.dial({"127.0.0.1", 1});
  EXPECT_TRUE(c.told("lost the authorities' file '/no/such/file': No such file or directory"));
}

TEST(net_tcp_transport, it_may_end_while_it_looks_up_a_name_and_has_been_woken) {
  client c;
  c.dial(nowhere);
  ASSERT_TRUE(c.told("woken"));
  c.run([](transport& /*io*/) {});
}

} // namespace
} // namespace millrace::net
