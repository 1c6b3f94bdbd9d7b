#include "transport/in_process/server.hpp"

#include <utility>

namespace millrace::nats::detail {

using namespace in_process;

in_process_server::in_process_server(runtime& rt, const in_process_server_options& options)
    : runtime_(&rt), options_(options), jetstream_(*this) {}

in_process_server::~in_process_server() {
  if (alarm_ != nullptr) alarm_->cancel();
}

void in_process_server::watch_clock() {
  alarm_ = std::make_shared<alarm>(*runtime_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_clock();
  });
}

std::shared_ptr<connection_state> in_process_server::connect(bool echo) {
  auto state = std::make_shared<connection_state>();
  const std::scoped_lock lock(mutex_);
  state->id = ++connections_;
  state->echo = echo;
  return state;
}

std::vector<subscription_ptr> in_process_server::disconnect(const connection_state& from) {
  const std::scoped_lock lock(mutex_);
  return router_.remove_all(from.id);
}

void in_process_server::publish(const connection_state& from, const message_ptr& m, std::string_view reply) {
  std::unique_lock lock(mutex_);
  const bool heard = router_.route(m->subject, {m, std::string(reply)}, from.echo ? 0 : from.id);
  const bool stored = jetstream_.publish(m, reply);
  if (!heard && !stored && !reply.empty()) router_.answer_no_responders(reply, from.id);
  finish(std::move(lock));
}

subscription_ptr in_process_server::subscribe(std::shared_ptr<connection_state> owner, std::string_view subject,
                                              std::string_view queue, receiver& to) {
  auto made = std::make_shared<subscription>(*runtime_, std::move(owner), subject, queue, to);
  const std::scoped_lock lock(mutex_);
  router_.add(made);
  return made;
}

void in_process_server::unsubscribe(const subscription& s) {
  const std::scoped_lock lock(mutex_);
  router_.remove(s);
}

void in_process_server::on_clock() {
  std::unique_lock lock(mutex_);
  jetstream_.on_clock();
  finish(std::move(lock));
}

void in_process_server::finish(std::unique_lock<std::mutex> lock) {
  if (const auto due = jetstream_.next_due()) alarm_->set(*due);
  const auto touched = router_.take_touched();
  lock.unlock();
  for (const subscription_ptr& s : touched)
    s->deliver();
}

time_point in_process_server::now() const noexcept { return runtime_->now(); }

std::int64_t in_process_server::unix_time(time_point at) const noexcept {
  return (duration(at.time_since_epoch()) + options_.unix_offset).count();
}

void in_process_server::send(std::string_view to, envelope e) { router_.route(to, e); }

bool in_process_server::has_interest(std::string_view subject) const noexcept { return router_.has_interest(subject); }

store_limits in_process_server::limits() const noexcept { return {options_.stream_messages, options_.stream_bytes}; }

std::shared_ptr<in_process_server> make_in_process_server(runtime& rt, const in_process_server_options& options) {
  auto server = std::make_shared<in_process_server>(rt, options);
  server->watch_clock();
  return server;
}

} // namespace millrace::nats::detail
