// The other side: Proton's own C++ container API, as its examples use it.
#include "bare.hpp"
#include "sides.hpp"

#include <proton/connection.hpp>
#include <proton/container.hpp>
#include <proton/delivery.hpp>
#include <proton/message.hpp>
#include <proton/messaging_handler.hpp>
#include <proton/receiver_options.hpp>
#include <proton/sender.hpp>
#include <proton/source_options.hpp>
#include <proton/tracker.hpp>
#include <proton/value.hpp>

#include <cstdint>

namespace bench::bare {

address::address(const std::string& url) {
  const std::size_t login = url.find("://") + 3;
  const std::size_t at = url.find('@');
  where = url.substr(at == std::string::npos ? login : at + 1);
  if (at == std::string::npos) return;
  const std::string both = url.substr(login, at - login);
  user = both.substr(0, both.find(':'));
  password = both.substr(both.find(':') + 1);
}

proton::connection_options address::options() const {
  proton::connection_options o;
  if (!user.empty()) o.user(user).password(password).sasl_allow_insecure_mechs(true).sasl_allowed_mechs("PLAIN");
  return o;
}

namespace {

class reader final : public proton::messaging_handler {
 public:
  reader(const run_options& options, meter& m) : options_(&options), meter_(&m), to_(options.url) {}
  void on_container_start(proton::container& c) override { c.connect(to_.where, to_.options()); }
  void on_connection_open(proton::connection& c) override {
    c.open_receiver(options_->queue, proton::receiver_options().credit_window(window).auto_accept(true));
  }
  void on_message(proton::delivery& d, proton::message& m) override {
    if (meter_->message(proton::coerce<proton::binary>(m.body()).size())) d.connection().close();
  }

 private:
  const run_options* options_;
  meter* meter_;
  address to_;
};

class writer final : public proton::messaging_handler {
 public:
  writer(const run_options& options, meter& m) : options_(&options), meter_(&m), to_(options.url) {}
  void on_container_start(proton::container& c) override { c.connect(to_.where, to_.options()); }
  void on_connection_open(proton::connection& c) override { c.open_sender(options_->queue); }
  void on_sendable(proton::sender& s) override { send(s); }
  void on_tracker_accept(proton::tracker& t) override {
    if (++accepted_ == options_->messages) {
      meter_->end();
      t.connection().close();
      return;
    }
    proton::sender s = t.sender();
    send(s);
  }

 private:
  void send(proton::sender& s) {
    if (sent_ == 0) meter_->begin();
    while (s.credit() > 0 && sent_ < options_->messages && sent_ - accepted_ < window) {
      proton::message m;
      m.body(proton::binary(sixteen_bytes.begin(), sixteen_bytes.end()));
      m.durable(true);
      s.send(m);
      ++sent_;
    }
  }
  const run_options* options_;
  meter* meter_;
  address to_;
  std::size_t sent_ = 0;
  std::size_t accepted_ = 0;
};

template <class Handler> int run(const run_options& options) {
  meter m(options.messages);
  Handler handler(options, m);
  proton::container(handler).run();
  m.report();
  return 0;
}

} // namespace

int consume(const run_options& options) { return run<reader>(options); }
int publish(const run_options& options) { return run<writer>(options); }

} // namespace bench::bare
