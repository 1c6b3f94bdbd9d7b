#include "session/jetstream_publisher.hpp"

#include "protocol/header_check.hpp"
#include "protocol/js_api.hpp"
#include "session/core_publisher.hpp"

#include <millrace/nats/errors.hpp>

#include <mutex>
#include <vector>

namespace millrace::nats::detail {

namespace {
constexpr unsigned no_responders = 503;
}

/// One publish until its acknowledgement. Reused, with what it has allocated.
class jetstream_publisher::flight final : public reply_waiter {
 public:
  void on_reply(result<received> answer) noexcept override;
  void finish(result<receipt> answer) noexcept;

  publish_operation* op = nullptr;
  std::string subject;
  header_map headers;
  request_mux::ticket ticket;
  std::shared_ptr<flights> home; ///< while under way
};

class jetstream_publisher::flights : public std::enable_shared_from_this<flights> {
 public:
  std::unique_ptr<flight> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<flight>();
    std::unique_ptr<flight> f = std::move(idle_.back());
    idle_.pop_back();
    return f;
  }
  void give_back(std::unique_ptr<flight> f) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(f));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<flight>> idle_;
};

void jetstream_publisher::flight::finish(result<receipt> answer) noexcept {
  publish_operation* const waiting = std::exchange(op, nullptr);
  const std::shared_ptr<flights> to = std::move(home);
  to->give_back(std::unique_ptr<flight>(this));
  waiting->complete(std::move(answer));
}

void jetstream_publisher::flight::on_reply(result<received> answer) noexcept {
  const std::string place = "subject '" + subject + "'";
  if (!answer) {
    if (answer.error() == millrace::errc::closed) return finish(fail(errc::closed, subject));
    if (answer.error() == millrace::errc::timeout)
      return finish(fail(errc::jetstream, place + ": no acknowledgement in time; the message may be stored"));
    return finish(fail(std::move(answer.error())));
  }
  if (status_of(*answer) == no_responders) return finish(fail(errc::jetstream, place + ": no stream"));
  result<publish_ack> ack = read_publish_ack(as_text(answer->payload()), place);
  if (!ack) return finish(fail(std::move(ack.error())));
  receipt r;
  r.id = std::move(ack->stream);
  r.sequence = ack->sequence;
  r.duplicate = ack->duplicate;
  finish(std::move(r));
}

jetstream_publisher::jetstream_publisher(std::shared_ptr<connection> shared, std::string expected_stream)
    : shared_(std::move(shared)), expected_stream_(std::move(expected_stream)), flights_(std::make_shared<flights>()) {}

jetstream_publisher::~jetstream_publisher() = default;

void jetstream_publisher::publish(const outgoing& m, publish_operation& op) noexcept {
  if (std::optional<error> fault = check_outgoing(*shared_, m)) return op.complete_now(fail(std::move(*fault)));
  std::unique_ptr<flight> owned = flights_->take();
  owned->op = &op;
  owned->subject = m.destination;
  owned->home = flights_;
  flight* const f = owned.release(); // its answer may come before `send` returns
  result<void> sent = send(m, *f);
  if (!sent) f->finish(fail(std::move(sent.error())));
}

result<void> jetstream_publisher::send(const outgoing& m, flight& f) {
  f.headers.clear();
  if (m.headers != nullptr) f.headers.merge(*m.headers);
  add_protocol_headers(m, f.headers);
  if (result<void> checked = check_headers(f.headers); !checked) return checked;
  wire_message out;
  out.subject = m.destination;
  out.payload = m.payload;
  out.headers = &f.headers;
  return shared_->mux().send(out, shared_->settings().api_timeout, f, f.ticket);
}

/// After the application's, so that both survive.
void jetstream_publisher::add_protocol_headers(const outgoing& m, header_map& headers) const {
  if (!expected_stream_.empty()) headers.set("Nats-Expected-Stream", expected_stream_);
  const auto* const o = static_cast<const jetstream_publish::options*>(m.options);
  if (o == nullptr) return;
  if (o->message_id()) headers.set("Nats-Msg-Id", *o->message_id());
  if (o->expected_last_sequence())
    headers.set("Nats-Expected-Last-Sequence", std::to_string(*o->expected_last_sequence()));
  if (o->expected_last_subject_sequence())
    headers.set("Nats-Expected-Last-Subject-Sequence", std::to_string(*o->expected_last_subject_sequence()));
  if (o->expected_last_message_id()) headers.set("Nats-Expected-Last-Msg-Id", *o->expected_last_message_id());
}

} // namespace millrace::nats::detail
