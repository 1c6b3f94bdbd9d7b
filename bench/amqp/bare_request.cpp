// Questions and answers with Proton's C++ container API, both on one connection: what the server itself takes.
#include "bare.hpp"
#include "sides.hpp"

#include <proton/connection.hpp>
#include <proton/container.hpp>
#include <proton/delivery.hpp>
#include <proton/message.hpp>
#include <proton/message_id.hpp>
#include <proton/messaging_handler.hpp>
#include <proton/receiver.hpp>
#include <proton/receiver_options.hpp>
#include <proton/sender.hpp>
#include <proton/source.hpp>
#include <proton/source_options.hpp>
#include <proton/target_options.hpp>

#include <vector>

namespace bench::bare {
namespace {

/// Asks one question after the other, and answers them itself.
class asker final : public proton::messaging_handler {
 public:
  explicit asker(const run_options& options) : options_(&options), to_(options.url) {}
  void on_container_start(proton::container& c) override { c.connect(to_.where, to_.options()); }
  void on_connection_open(proton::connection& c) override {
    c.open_receiver(options_->queue, proton::receiver_options().source(
                                         proton::source_options().capabilities({proton::symbol("queue")})));
    c.open_receiver("", proton::receiver_options().source(proton::source_options().dynamic(true)));
    questions_ = c.open_sender(options_->queue);
  }
  void on_receiver_open(proton::receiver& r) override {
    if (!r.source().dynamic()) return;
    reply_to_ = r.source().address();
    answers_ = r.connection().open_sender(reply_to_);
    ask();
  }
  void on_message(proton::delivery& d, proton::message& m) override {
    if (!m.reply_to().empty()) {
      proton::message answer(m.body());
      answer.correlation_id(m.correlation_id());
      answers_.send(answer);
      return;
    }
    took_.push_back(seconds_since(began_) * 1e3);
    if (took_.size() < warm_up_requests + options_->messages) return ask();
    took_.erase(took_.begin(), took_.begin() + warm_up_requests);
    report_times(took_);
    d.connection().close();
  }

 private:
  void ask() {
    began_ = std::chrono::steady_clock::now();
    proton::message m;
    m.body(proton::binary(sixteen_bytes.begin(), sixteen_bytes.end()));
    m.reply_to(reply_to_);
    m.correlation_id(proton::message_id(static_cast<std::uint64_t>(took_.size())));
    questions_.send(m);
  }
  const run_options* options_;
  address to_;
  proton::sender questions_, answers_;
  std::string reply_to_;
  std::chrono::steady_clock::time_point began_;
  std::vector<double> took_;
};

} // namespace

int request(const run_options& options) {
  asker handler(options);
  proton::container(handler).run();
  return 0;
}

} // namespace bench::bare
