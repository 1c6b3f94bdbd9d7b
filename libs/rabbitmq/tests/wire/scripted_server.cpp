#include "wire/scripted_server.hpp"

#include <millrace/rabbitmq/errors.hpp>

namespace millrace::rabbitmq::testing {
namespace {

using wire::method;

const std::map<method, const char*> names = {
    {method::connection_start_ok, "connection.start-ok"},
    {method::connection_tune_ok, "connection.tune-ok"},
    {method::connection_open, "connection.open"},
    {method::connection_close, "connection.close"},
    {method::connection_close_ok, "connection.close-ok"},
    {method::channel_open, "channel.open"},
    {method::channel_close, "channel.close"},
    {method::channel_close_ok, "channel.close-ok"},
    {method::exchange_declare, "exchange.declare"},
    {method::queue_declare, "queue.declare"},
    {method::queue_bind, "queue.bind"},
    {method::basic_qos, "basic.qos"},
    {method::basic_consume, "basic.consume"},
    {method::basic_cancel, "basic.cancel"},
    {method::basic_publish, "basic.publish"},
    {method::basic_ack, "basic.ack"},
    {method::basic_reject, "basic.reject"},
    {method::confirm_select, "confirm.select"},
};

std::string argument_text(method what, std::string_view bytes) {
  wire::reader in(bytes);
  switch (what) {
  case method::exchange_declare:
  case method::queue_declare: {
    (void)in.u16();
    std::string text(in.short_string());
    if (what == method::exchange_declare) text += " " + std::string(in.short_string());
    return (in.u8() & 1) != 0 ? text + " passive" : text;
  }
  case method::queue_bind: {
    (void)in.u16();
    std::string text(in.short_string());
    text += " " + std::string(in.short_string());
    return text + " " + std::string(in.short_string());
  }
  case method::basic_qos:
    (void)in.u32();
    return std::to_string(in.u16());
  case method::basic_consume:
    (void)in.u16();
    return std::string(in.short_string());
  case method::basic_publish: {
    (void)in.u16();
    std::string text = "'" + std::string(in.short_string()) + "'";
    text += " " + std::string(in.short_string());
    return in.u8() != 0 ? text + " mandatory" : text;
  }
  case method::basic_ack:
  case method::basic_reject: {
    std::string text = std::to_string(in.u64());
    return in.u8() != 0 ? text + (what == method::basic_ack ? " multiple" : " requeue") : text;
  }
  default:
    return {};
  }
}

/// A job that owns itself.
struct call final : job {
  explicit call(std::function<void()> f)
      : job([](job& j) noexcept {
          const std::unique_ptr<call> self(&static_cast<call&>(j));
          self->work();
        }),
        work(std::move(f)) {}
  std::function<void()> work;
};

} // namespace

std::string describe_method(std::uint16_t channel, method what, std::string_view arguments) {
  const auto found = names.find(what);
  std::string text = found == names.end() ? "?" : found->second;
  if (const std::string more = argument_text(what, arguments); !more.empty()) text += " " + more;
  return channel == 0 ? text : std::to_string(channel) + " " + text;
}

std::string server_method(std::uint16_t channel, method what, const std::function<void(wire::writer&)>& arguments) {
  std::string out;
  wire::frame_writer f(out, wire::frame_type::method, channel);
  f.u32(static_cast<std::uint32_t>(what));
  if (arguments) arguments(f);
  f.end();
  return out;
}

std::string channel_close(std::uint16_t channel, std::uint16_t code, std::string_view text) {
  return server_method(channel, method::channel_close, [&](wire::writer& w) {
    w.u16(code);
    w.short_string(text);
    w.u32(0);
  });
}

std::string connection_close(std::uint16_t code, std::string_view text) {
  return server_method(0, method::connection_close, [&](wire::writer& w) {
    w.u16(code);
    w.short_string(text);
    w.u32(0);
  });
}

void scripted_server::later(std::function<void()> work) {
  runtime_->post(*new call([self = shared_from_this(), work = std::move(work)] {
    if (!self->stopped_) work();
  }));
}

void scripted_server::wake() noexcept {
  later([this] { listener_->on_wake(); });
}

void scripted_server::dial(const net::endpoint& to) noexcept {
  dialled.push_back(to.text());
  from_client_.clear();
  to_client_.clear();
  greeted_ = false;
  later([this, mine = ++connection_] {
    if (mine != connection_) return;
    if (refuse_dials) return listener_->on_lost("connect: Connection refused");
    connected_ = true;
    listener_->on_connected();
  });
}

bool scripted_server::write(std::string_view bytes) noexcept {
  ++writes;
  from_client_.append(bytes);
  later([this, mine = connection_] {
    if (mine != connection_) return;
    std::string out;
    if (!greeted_ && from_client_.starts_with(wire::protocol_header)) {
      greeted_ = true;
      from_client_.erase(0, wire::protocol_header.size());
      if (!silent) {
        out += server_method(0, method::connection_start, [](wire::writer& w) {
          w.u8(0);
          w.u8(9);
          w.u32(0);
          w.long_string("AMQPLAIN PLAIN EXTERNAL");
          w.long_string("en_US");
        });
      }
    }
    for (;;) {
      const wire::frame_read read = wire::read_frame(from_client_);
      if (read.how != wire::frame_read::state::complete) break;
      on_client_frame(read.what, out);
      from_client_.erase(0, read.size);
      if (mine != connection_) return;
    }
    listener_->on_written();
    if (!out.empty()) say(std::move(out));
  });
  return false;
}

void scripted_server::on_client_frame(const wire::frame& f, std::string& out) {
  if (f.type == wire::frame_type::heartbeat) ++heartbeats;
  if (f.type == wire::frame_type::body) bodies.emplace_back(f.payload);
  if (f.type != wire::frame_type::method) return;
  wire::reader args(f.payload);
  const method what = wire::read_method(args);
  seen.push_back(describe_method(f.channel, what, args.rest()));
  if (vanish_at >= 0 && vanish_at-- == 0) return vanish();
  if (silent) return;
  if (answer && answer(f.channel, what, out)) return;
  usual_answer(f.channel, what, out);
}

void scripted_server::usual_answer(std::uint16_t channel, method what, std::string& out) {
  const auto ok = [&](method reply, const std::function<void(wire::writer&)>& args = {}) {
    out += server_method(channel, reply, args);
  };
  switch (what) {
  case method::connection_start_ok:
    return ok(method::connection_tune, [this](wire::writer& w) {
      w.u16(channel_max);
      w.u32(wire::largest_frame);
      w.u16(heartbeat);
    });
  case method::connection_open:
    return ok(method::connection_open_ok, [](wire::writer& w) { w.u8(0); });
  case method::connection_close:
    return ok(method::connection_close_ok);
  case method::channel_open:
    return ok(method::channel_open_ok, [](wire::writer& w) { w.u32(0); });
  case method::channel_close:
    return ok(method::channel_close_ok);
  case method::exchange_declare:
    return ok(method::exchange_declare_ok);
  case method::queue_bind:
    return ok(method::queue_bind_ok);
  case method::basic_qos:
    return ok(method::basic_qos_ok);
  case method::confirm_select:
    return ok(method::confirm_select_ok);
  case method::basic_consume:
    return ok(method::basic_consume_ok, [](wire::writer& w) { w.short_string("ctag"); });
  case method::queue_declare:
    return ok(method::queue_declare_ok, [](wire::writer& w) {
      w.short_string("q");
      w.u64(0);
    });
  default:
    return;
  }
}

void scripted_server::say(std::string bytes) {
  later([this, bytes = std::move(bytes), mine = connection_] {
    if (mine != connection_ || !connected_) return;
    to_client_ += bytes;
    const std::size_t used = listener_->on_bytes(to_client_);
    if (mine == connection_) to_client_.erase(0, used);
  });
}

void scripted_server::deliver(std::uint16_t channel, std::uint64_t tag, std::string_view key, std::string_view body,
                              bool redelivered) {
  std::string out = server_method(channel, method::basic_deliver, [&](wire::writer& w) {
    w.short_string("ctag");
    w.u64(tag);
    w.u8(redelivered ? 1 : 0);
    w.short_string("");
    w.short_string(key);
  });
  wire::frame_writer header(out, wire::frame_type::header, channel);
  header.u32(60 << 16);
  header.u64(body.size());
  header.u16(0);
  header.end();
  if (!body.empty()) {
    wire::frame_writer part(out, wire::frame_type::body, channel);
    out.append(body);
    part.end();
  }
  say(std::move(out));
}

void scripted_server::vanish() {
  connected_ = false;
  later([this, mine = ++connection_] {
    if (mine == connection_) listener_->on_lost("read: End of file");
  });
}

} // namespace millrace::rabbitmq::testing
