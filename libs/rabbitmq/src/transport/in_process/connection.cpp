#include "transport/in_process/connection.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail::in_process {

void connection::end() {
  state_ = state::closed;
  channels_.clear();
  if (host_ != nullptr) std::exchange(host_, nullptr)->connection_ended(id_);
}

void connection::receive(std::string_view bytes, const std::function<void()>& done) {
  in_ += bytes;
  if (state_ == state::header && !read_header()) return;
  std::size_t used = 0;
  while (state_ != state::closed) {
    const frame_read read = read_frame(std::string_view(in_).substr(used));
    if (read.how == frame_read::state::incomplete) break;
    if (read.how == frame_read::state::malformed) {
      close(0, refuse(501, read.why).error());
    } else {
      used += read.size;
      on_frame(read.what);
    }
    done();
  }
  in_.erase(0, used);
}

bool connection::read_header() {
  if (!in_.starts_with(protocol_header)) return false;
  in_.erase(0, protocol_header.size());
  state_ = state::start;
  append_start(out_);
  return true;
}

void connection::on_frame(const frame& f) {
  if (f.type == frame_type::heartbeat) return;
  answer<void> done;
  if (f.channel != 0) {
    done = on_channel_frame(f);
  } else {
    reader args(f.payload);
    const method what = read_method(args);
    done = on_connection_method(what, args);
  }
  if (!done) close(done.error().ends_connection() ? 0 : f.channel, done.error());
}

answer<void> connection::on_connection_method(method what, reader& args) {
  if (what == method::connection_close) {
    end();
    server_method(out_, 0, method::connection_close_ok).end();
  } else if (state_ == state::start && what == method::connection_start_ok) {
    state_ = state::tune;
    append_tune(out_);
  } else if (state_ == state::tune && what == method::connection_tune_ok) {
    const tune_args agreed(args);
    if (agreed.frame_max != 0) frame_max_ = std::min(frame_max_, agreed.frame_max);
    state_ = state::open;
  } else if (state_ == state::open && what == method::connection_open) {
    host_ = &find_(std::string(args.short_string()));
    state_ = state::ready;
    server_method ok(out_, 0, method::connection_open_ok);
    ok.u8(0);
    ok.end();
  } else if (what != method::connection_close_ok) {
    return refuse(503, "a method that does not belong there");
  }
  return {};
}

answer<void> connection::on_channel_frame(const frame& f) {
  if (state_ != state::ready) return refuse(504, "a channel before the connection is open");
  reader args(f.payload);
  if (f.type == frame_type::method) return on_channel_method(f.channel, args);
  const auto found = channels_.find(f.channel);
  if (found == channels_.end()) return refuse(504, "expected 'channel.open'");
  if (!found->second) return {};
  return f.type == frame_type::header ? found->second->on_header(f.payload) : found->second->on_body(f.payload);
}

answer<void> connection::on_channel_method(std::uint16_t number, reader& args) {
  const method what = read_method(args);
  const auto found = channels_.find(number);
  if (what == method::channel_open) {
    if (found != channels_.end()) return refuse(504, "second 'channel.open' seen");
    channel_place place{host_, &out_, id_, frame_max_};
    channels_.emplace(number, std::make_unique<channel>(place, number));
    server_method ok(out_, number, method::channel_open_ok);
    ok.u32(0);
    ok.end();
    return {};
  }
  if (found == channels_.end()) return refuse(504, "expected 'channel.open'");
  if (what == method::channel_close) {
    channels_.erase(found);
    server_method(out_, number, method::channel_close_ok).end();
  } else if (what == method::channel_close_ok) {
    channels_.erase(found);
  } else if (found->second && what != method::channel_flow_ok) {
    return found->second->on_method(what, args);
  }
  return {};
}

/// A closed channel waits for the client's answer; whatever else comes on it is nobody's.
void connection::close(std::uint16_t number, const refusal& why) {
  append_close(out_, number, why);
  if (number == 0) return end();
  if (const auto found = channels_.find(number); found != channels_.end()) found->second.reset();
}

} // namespace millrace::rabbitmq::detail::in_process
