#include "session/session.hpp"

#include <millrace/log.hpp>

#include <algorithm>

namespace millrace::rabbitmq::detail {

bool plain_lane::on_open(session& s) {
  opened();
  s.prepared();
  return true;
}

void plain_lane::on_gone(session& s, std::uint16_t code, std::string_view text) noexcept {
  lane::on_gone(s, code, text);
  if (code != 0) s.not_prepared(code, text);
}

std::uint16_t session::open_channel(channel_user& user) {
  const std::uint16_t number = channels_.take(user);
  if (number != 0) send([&](std::string& out) { append_channel_open(out, number); });
  return number;
}

void session::close_channel(std::uint16_t number) {
  if (channels_.find(number) == nullptr) return;
  channels_.close(number);
  send([&](std::string& out) { append_channel_close(out, number); });
}

void session::adopt(const std::shared_ptr<lane>& l) {
  if (std::ranges::find(lanes_, l) == lanes_.end()) lanes_.push_back(l);
  if (state_ == state::over) return;
  if (const auto due = l->sweep(link_->clock.now())) call_at(*due);
}

void session::remove(consumer& c) noexcept {
  const auto found = std::ranges::find(consumers_, &c, &std::shared_ptr<consumer>::get);
  if (found == consumers_.end()) return;
  removed_.push_back(std::move(*found));
  consumers_.erase(found);
  std::erase(dirty_, &c);
}

std::size_t session::on_bytes(std::string_view input) noexcept {
  heard_ = true;
  {
    const std::scoped_lock lock(link_->mutex);
    link_->flush_promised = true;
  }
  std::size_t used = 0;
  for (const std::uint32_t mine = connection_; connection_ == mine;) {
    const frame_read read = read_frame(input.substr(used));
    if (read.how == frame_read::state::incomplete) break;
    if (read.how == frame_read::state::malformed) {
      connection_lost(error(errc::connect, std::string("the server broke the protocol: ") + read.why));
      break;
    }
    used += read.size;
    if (on_frame(read.what)) continue;
    connection_lost(error(errc::connect, "the server broke the protocol: a frame that does not belong there"));
  }
  finish_turn();
  return used;
}

bool session::on_frame(const frame& f) {
  if (f.type == frame_type::heartbeat) return true;
  if (f.channel == 0) return f.type == frame_type::method && on_connection_method(f);
  channel_table::slot* const slot = channels_.find(f.channel);
  if (slot == nullptr) return false;
  if (f.type == frame_type::method) return on_channel_method(f, *slot);
  if (slot->user == nullptr) return true; // we closed it: its last frames are nobody's
  if (f.type == frame_type::header) return slot->user->on_header(*this, f.payload);
  return slot->user->on_body(*this, f.payload);
}

bool session::on_channel_method(const frame& f, channel_table::slot& slot) {
  reader args(f.payload);
  const method what = read_method(args);
  channel_user* const user = slot.user;
  if (what == method::channel_close) {
    const close_args close(args);
    if (!args.ok()) return false;
    send([&](std::string& out) { append_plain(out, f.channel, method::channel_close_ok); });
    if (slot.how != channel_table::state::closing) channels_.release(f.channel);
    if (user != nullptr) user->on_gone(*this, close.code, close.text);
    return true;
  }
  if (what == method::channel_close_ok) {
    channels_.release(f.channel);
    return true;
  }
  if (user == nullptr) return true;
  if (what == method::channel_open_ok) {
    if (slot.how != channel_table::state::opening) return false;
    slot.how = channel_table::state::open;
    return user->on_open(*this);
  }
  if (what == method::channel_flow) {
    const bool active = (args.u8() & 1) != 0;
    send([&](std::string& out) { append_flow_ok(out, f.channel, active); });
    return true;
  }
  return user->on_method(*this, what, args);
}

bool session::on_connection_method(const frame& f) {
  reader args(f.payload);
  const method what = read_method(args);
  if (state_ == state::shaking) {
    auto progress = handshake_machine::progress::more;
    send([&](std::string& out) { progress = handshake_.on_method(what, args, out); });
    if (progress == handshake_machine::progress::open) handshake_done();
    if (progress == handshake_machine::progress::refused) {
      flush();
      attempt_failed(handshake_.failure());
    }
    return true;
  }
  if (what == method::connection_close) {
    const close_args close(args);
    if (!args.ok()) return false;
    send([&](std::string& out) { append_plain(out, 0, method::connection_close_ok); });
    flush();
    connection_lost(
        error(errc::connect, "the server closed the connection").from_server(close.code, std::string(close.text)));
    return true;
  }
  if (what == method::connection_close_ok && state_ == state::closing) {
    finish_close(true);
    return true;
  }
  if (what == method::connection_blocked) {
    const std::string reason(args.short_string());
    on_blocked(&reason);
    return args.ok();
  }
  if (what != method::connection_unblocked) return false;
  on_blocked(nullptr);
  return true;
}

void session::on_blocked(const std::string* reason) {
  {
    const std::scoped_lock lock(link_->mutex);
    link_->blocked = reason != nullptr;
  }
  if (reason != nullptr) {
    const error why = error(errc::consume, "the server blocks this connection").from_server(0, *reason);
    log(log_level::warning, "rabbitmq: " + why.message());
    for (const auto& c : consumers_)
      c->blocked(&why);
    return;
  }
  log(log_level::info, "rabbitmq: the server unblocked this connection");
  for (const auto& c : consumers_)
    c->blocked(nullptr);
  pump_lanes(true);
}

/// What a turn of the I/O thread leaves: deliveries to hand over, bytes to write.
void session::finish_turn() noexcept {
  for (std::size_t i = 0; i < dirty_.size(); ++i) // NOLINT(modernize-loop-convert): a sink may add to it
    dirty_[i]->hand_over();
  dirty_.clear();
  removed_.clear();
  flush();
  arm_alarm();
}

void session::flush() noexcept {
  bool written = false;
  while (!write_busy_ && take_output()) { // else looks again when it is written
    sent_ = true;
    written = io_->write(writing_);
    write_busy_ = !written;
  }
  if (written) pump_lanes(false);
}

/// Moves what is to be written where nobody else writes. False: there is nothing, and whoever has something wakes us.
bool session::take_output() noexcept {
  const std::scoped_lock lock(link_->mutex);
  link_->flush_promised = !link_->out.empty();
  if (link_->out.empty()) return false;
  writing_.clear();
  std::swap(writing_, link_->out);
  return true;
}

void session::on_written() noexcept {
  write_busy_ = false;
  flush();
  pump_lanes(false);
}

void session::pump_lanes(bool all) noexcept {
  {
    const std::scoped_lock lock(link_->mutex);
    if (!all && (!link_->stalled || link_->out.size() > link_->settings.write_buffer / 2)) return;
    link_->stalled = false;
  }
  for (const auto& l : lanes_)
    l->pump();
}

void session::on_wake() noexcept {
  if (alarm_fired_.exchange(false)) {
    armed_.reset();
    tick();
  }
  for (auto& command : link_->take_commands())
    command(this);
  finish_turn();
}

} // namespace millrace::rabbitmq::detail
