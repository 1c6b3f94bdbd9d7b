#include "session/consumer.hpp"

#include "session/session.hpp"

#include <utility>

namespace millrace::rabbitmq::detail {

consumer::consumer(std::shared_ptr<consumer_seat> seat, sink& to, std::vector<opening_step> plan, bool declares,
                   std::uint64_t seed)
    : seat_(std::move(seat)), pool_(delivery_pool::make(seat_)), sink_(&to), machine_(std::move(plan)),
      backoff_(seat_->shared->settings.backoff_first, seat_->shared->settings.backoff_most, seed), declares_(declares) {
}

consumer::~consumer() { close_gate(); }

void consumer::open_first(session& s, std::shared_ptr<outcome_of> first, time_point due) {
  first_ = std::move(first);
  due_ = due;
  if (!s.ready_for_channels()) {
    const errc kind = seat_->shared->closed ? errc::closed : errc::subscribe; // lost, and to come back
    return finish_first(s, error(kind, "queue '" + seat_->queue.name + "': the connection is lost"));
  }
  open(s);
}

void consumer::open(session& s) {
  channel_ = s.open_channel(*this);
  if (channel_ != 0) {
    state_ = state::opening;
    return;
  }
  lost(s, error(errc::subscribe, "queue '" + seat_->queue.name + "': the connection has no free channel"), false);
}

bool consumer::on_open(session& s) {
  s.send([&](std::string& out) { machine_.begin(channel_, out); });
  return true;
}

bool consumer::on_method(session& s, method what, reader& args) {
  if (what == method::basic_deliver) [[likely]]
    return on_deliver(args);
  if (what == method::basic_cancel) return on_cancel(s, args);
  if (what == method::basic_cancel_ok) return true;
  if (what == method::basic_consume_ok) tag_ = args.short_string();
  auto progress = opening_machine::progress::unexpected;
  s.send([&](std::string& out) { progress = machine_.on_answer(what, out); });
  if (progress == opening_machine::progress::done) opened(s);
  return args.ok() && progress != opening_machine::progress::unexpected;
}

void consumer::opened(session& /*s*/) {
  {
    const std::scoped_lock lock(seat_->shared->mutex);
    seat_->gate.number = channel_;
    seat_->gate.open = true;
    generation_ = seat_->gate.generation;
  }
  state_ = state::consuming;
  due_.reset();
  backoff_.reset();
  if (first_) std::exchange(first_, nullptr)->done.set();
  if (std::exchange(interrupted_, false)) sink_->resumed();
}

/// The server took the consumer away: its queue was deleted, or the queue's node went.
bool consumer::on_cancel(session& s, reader& args) {
  const std::string_view tag = args.short_string();
  if (!args.ok() || tag != tag_) return args.ok();
  s.close_channel(channel_);
  lost(s,
       error(errc::consume,
             "queue '" + seat_->queue.name + "': the server cancelled the consumer; the queue was deleted or moved"),
       false);
  return true;
}

bool consumer::on_deliver(reader& args) {
  const deliver_args delivered(args);
  if (!args.ok() || current_ != nullptr) return false;
  current_ = &pool_->take();
  current_->begin(delivered, generation_);
  return true;
}

bool consumer::on_header(session& s, std::string_view payload) {
  if (current_ == nullptr || !current_->header(payload)) return false;
  return !current_->complete() || completed(s);
}

bool consumer::on_body(session& s, std::string_view payload) {
  if (current_ == nullptr || !current_->body(payload)) return false;
  return !current_->complete() || completed(s);
}

bool consumer::completed(session& s) {
  delivery& d = *std::exchange(current_, nullptr);
  d.finish();
  if (state_ == state::stopped) {
    d.release(); // its channel will return it
    return true;
  }
  if (batch_.empty()) s.mark_dirty(*this);
  batch_.push(d);
  return true;
}

void consumer::hand_over() noexcept {
  if (!batch_.empty()) sink_->deliver(std::move(batch_), deliver_from::io_thread);
}

void consumer::close_gate() noexcept {
  {
    const std::scoped_lock lock(seat_->shared->mutex);
    if (std::exchange(seat_->gate.open, false)) ++seat_->gate.generation;
  }
  channel_ = 0;
  is_blocked_ = false;
  if (current_ != nullptr) std::exchange(current_, nullptr)->release();
  batch_.release_all();
}

/// Whether trying again cannot help: the queue is gone, forbidden or different.
bool consumer::is_for_good(std::uint16_t code, std::string_view text) const noexcept {
  if (code == 403 || code == 406) return true;
  return code == 404 && !declares_ && text.find("inaccessible") == std::string_view::npos;
}

void consumer::on_gone(session& s, std::uint16_t code, std::string_view text) noexcept {
  error why = machine_.refused(code, text);
  if (code == 0) why = error(errc::consume, "queue '" + seat_->queue.name + "': the connection is lost");
  const bool was_open = state_ == state::consuming;
  lost(s, std::move(why), !was_open && is_for_good(code, text));
}

void consumer::lost(session& s, error why, bool for_good) noexcept {
  close_gate();
  if (state_ == state::stopped) return;
  if (first_) return finish_first(s, std::move(why));
  if (for_good) {
    state_ = state::stopped;
    interrupted_ = true;
    return sink_->ended(std::move(why));
  }
  state_ = state::waiting;
  if (!std::exchange(interrupted_, true)) sink_->interrupted(std::move(why));
  due_ = seat_->shared->clock.now() + backoff_.next();
  s.call_at(*due_);
}

void consumer::finish_first(session& s, error why) noexcept {
  state_ = state::stopped;
  due_.reset();
  const auto first = std::exchange(first_, nullptr);
  first->failure = std::move(why);
  s.remove(*this);
  first->done.set();
}

void consumer::restore(session& s) {
  if (state_ != state::waiting) return;
  due_.reset();
  open(s);
}

std::optional<time_point> consumer::tick(session& s, time_point now) {
  if (!due_ || *due_ > now) return due_;
  due_.reset();
  if (first_) {
    if (channel_ != 0) s.close_channel(channel_);
    lost(s, error(errc::timeout, "queue '" + seat_->queue.name + "': the server did not answer"), false);
  } else if (state_ == state::waiting && s.ready_for_channels()) {
    open(s);
  }
  return due_;
}

void consumer::stop(session& s) {
  if (state_ == state::consuming) {
    s.send([&](std::string& out) { append_cancel(out, channel_, tag_); });
  }
  state_ = state::stopped;
  due_.reset();
  seat_->stopping.store(true, std::memory_order_release);
  batch_.release_all();
}

void consumer::close(session& s) {
  stop(s);
  if (channel_ != 0) s.close_channel(channel_);
  close_gate();
  s.remove(*this);
}

void consumer::end(const error& why) noexcept {
  close_gate();
  state_ = state::stopped;
  if (!first_) return;
  const auto first = std::exchange(first_, nullptr);
  first->failure = why;
  first->done.set();
}

void consumer::blocked(const error* why) noexcept {
  if (state_ != state::consuming || is_blocked_ == (why != nullptr)) return;
  is_blocked_ = why != nullptr;
  if (why != nullptr)
    sink_->interrupted(*why);
  else
    sink_->resumed();
}

} // namespace millrace::rabbitmq::detail
