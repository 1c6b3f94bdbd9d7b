#include "server/raw_client.hpp"

#include "protocol/content.hpp"
#include "protocol/table.hpp"

#include <chrono>
#include <map>

namespace millrace::rabbitmq::testing {
namespace {

using detail::field_value;
using detail::method;

const std::map<method, std::string> oks{
    {method::channel_open_ok, "channel.open-ok"},
    {method::channel_close_ok, "channel.close-ok"},
    {method::exchange_declare_ok, "exchange.declare-ok"},
    {method::queue_bind_ok, "queue.bind-ok"},
    {method::basic_qos_ok, "basic.qos-ok"},
    {method::basic_consume_ok, "basic.consume-ok"},
    {method::basic_cancel_ok, "basic.cancel-ok"},
    {method::basic_cancel, "basic.cancel"},
    {method::confirm_select_ok, "confirm.select-ok"},
    {method::tx_select_ok, "tx.select-ok"},
    {method::tx_commit_ok, "tx.commit-ok"},
    {method::tx_rollback_ok, "tx.rollback-ok"},
};

std::string value_text(const field_value& v);

std::string list_text(std::string_view bytes, bool named) {
  std::map<std::string, std::string> fields; // the order of a table is nobody's promise
  detail::reader in(bytes);
  std::string text;
  while (!in.rest().empty()) {
    const std::string name(named ? in.short_string() : std::string_view());
    field_value v;
    if (!in.ok() || !detail::read_value(in, v)) break;
    if (named)
      fields[name] = name == "time" ? "?" : value_text(v);
    else
      text += value_text(v) + ",";
  }
  for (const auto& [name, value] : fields)
    text.append(name).append("=").append(value).append(" ");
  return (named ? "{" : "[") + text + (named ? "}" : "]");
}

std::string value_text(const field_value& v) {
  if (v.tag == 'F') return list_text(v.text, true);
  if (v.tag == 'A') return list_text(v.text, false);
  if (v.what == field_value::kind::text) return "'" + std::string(v.text) + "'";
  if (v.what == field_value::kind::real) return std::to_string(v.real);
  return std::to_string(v.integer);
}

/// An address of direct reply-to has a part that the server makes up.
std::string without_secrets(std::string_view text) {
  constexpr std::string_view reply = "amq.rabbitmq.reply-to.";
  return text.starts_with(reply) ? std::string(reply) + "?" : std::string(text);
}

/// Timestamp, type and app-id, which the client itself does not read.
std::string unread_text(std::string_view bytes) {
  constexpr std::string_view kinds = "sstbbsssslsss"; // from bit 15: short strings, the table, octets and the timestamp
  detail::reader in(bytes);
  const std::uint16_t flags = in.u16();
  std::string text;
  for (std::size_t i = 0; i < kinds.size() && in.ok(); ++i) {
    if ((flags & (1 << (15 - i))) == 0) continue;
    if (kinds[i] == 's') {
      const std::string value(in.short_string());
      if (i >= 10) text.append(" ").append(value);
    } else if (kinds[i] == 't') {
      (void)in.table();
    } else if (kinds[i] == 'b') {
      (void)in.u8();
    } else {
      text.append(" at ").append(std::to_string(in.u64()));
    }
  }
  return text;
}

std::string properties_text(std::string_view bytes) {
  const detail::received_properties p(bytes);
  std::string text = " mode " + std::to_string(p.delivery_mode);
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) text.append(" ").append(name).append(" ").append(without_secrets(value));
  };
  add("type", p.content_type);
  add("correlation", p.correlation_id);
  add("reply-to", p.reply_to);
  add("expiration", p.expiration);
  add("id", p.message_id);
  text += unread_text(bytes);
  if (p.priority >= 0) text += " priority " + std::to_string(p.priority);
  if (!p.table.empty()) text += " " + list_text(p.table, true);
  return text;
}

std::string describe(method what, detail::reader& args) {
  if (const auto ok = oks.find(what); ok != oks.end()) return ok->second;
  switch (what) {
  case method::channel_close:
  case method::connection_close: {
    const detail::close_args close(args);
    return (what == method::channel_close ? "channel.close " : "connection.close ") + std::to_string(close.code) + " " +
           std::string(close.text);
  }
  case method::queue_declare_ok: {
    (void)args.short_string();
    const std::uint32_t ready = args.u32();
    return "queue.declare-ok ready " + std::to_string(ready) + " consumers " + std::to_string(args.u32());
  }
  case method::basic_deliver: {
    const detail::deliver_args d(args);
    return "basic.deliver " + std::to_string(d.tag) + (d.redelivered ? " again" : "") + " '" + std::string(d.exchange) +
           "' " + without_secrets(d.routing_key);
  }
  case method::basic_return: {
    const detail::return_args r(args);
    return "basic.return " + std::to_string(r.code) + " " + std::string(r.text) + " '" + std::string(r.exchange) +
           "' " + std::string(r.routing_key);
  }
  default:
    return "method " + std::to_string(static_cast<std::uint32_t>(what));
  }
}

} // namespace

raw_client::raw_client(std::shared_ptr<net::transport> io, const std::string& uri)
    : io_(std::move(io)), to_(*detail::parse_uri(uri)) {
  io_->start(*this);
  io_->wake(); // dials
  wait_for(1);
}

raw_client::~raw_client() { io_->stop(); }

void raw_client::on_wake() noexcept {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(dialled_, true)) return io_->dial(to_.hosts.front());
  flush();
}

void raw_client::on_connected() noexcept {
  const std::scoped_lock lock(mutex_);
  out_ += detail::protocol_header;
  flush();
}

void raw_client::on_written() noexcept {
  const std::scoped_lock lock(mutex_);
  busy_ = false;
  flush();
}

void raw_client::on_lost(std::string /*why*/) noexcept {
  const std::scoped_lock lock(mutex_);
  line("lost");
}

void raw_client::flush() {
  if (busy_ || out_.empty()) return;
  writing_ = std::exchange(out_, {});
  busy_ = !io_->write(writing_);
}

std::size_t raw_client::on_bytes(std::string_view input) noexcept {
  std::size_t used = 0;
  for (;;) {
    const detail::frame_read read = detail::read_frame(input.substr(used));
    if (read.how != detail::frame_read::state::complete) return used;
    used += read.size;
    on_frame(read.what);
  }
}

void raw_client::on_frame(const detail::frame& f) {
  if (f.type == detail::frame_type::heartbeat) return;
  if (f.type == detail::frame_type::method) return on_method(f);
  on_content(f);
}

void raw_client::on_method(const detail::frame& f) {
  detail::reader args(f.payload);
  const method what = detail::read_method(args);
  const std::unique_lock lock(mutex_);
  switch (what) {
  case method::connection_start:
    detail::append_start_ok(out_, "PLAIN", std::string("\0", 1) + to_.user + std::string("\0", 1) + to_.password,
                            "raw");
    return flush();
  case method::connection_tune:
    detail::append_tune_ok(out_, 2047, detail::largest_frame, 0);
    detail::append_connection_open(out_, to_.vhost);
    return flush();
  case method::connection_open_ok:
    return line("open");
  case method::basic_deliver:
  case method::basic_return:
    content_ = std::to_string(f.channel) + " " + describe(what, args);
    return;
  case method::basic_ack:
  case method::basic_nack:
    return on_confirm(f.channel, what == method::basic_ack ? " ack " : " nack ", detail::confirm_args(args));
  default:
    if (what == method::channel_close) {
      detail::append_plain(out_, f.channel, method::channel_close_ok);
      flush();
    }
    line((f.channel == 0 ? "" : std::to_string(f.channel) + " ") + describe(what, args));
  }
}

/// A line for each, however many one frame is for. With the lock.
void raw_client::on_confirm(std::uint16_t channel, const char* what, const detail::confirm_args& confirm) {
  std::uint64_t& last = confirmed_[channel];
  for (std::uint64_t n = confirm.multiple ? last + 1 : confirm.tag; n <= confirm.tag; ++n)
    line(std::to_string(channel) + what + std::to_string(n));
  last = std::max(last, confirm.tag);
}

void raw_client::on_content(const detail::frame& f) {
  const std::unique_lock lock(mutex_);
  if (f.type == detail::frame_type::header) {
    detail::reader in(f.payload);
    const detail::content_header header(in);
    missing_ = header.body_size;
    content_ += properties_text(header.properties) + " ";
  } else {
    missing_ -= f.payload.size();
    content_ += f.payload;
  }
  if (missing_ == 0) line(std::exchange(content_, {}));
}

/// With the lock.
void raw_client::line(std::string text) {
  said_.push_back(std::move(text));
  changed_.notify_all();
}

void raw_client::wait_for(std::size_t lines) {
  std::unique_lock lock(mutex_);
  seen_ += lines;
  if (!changed_.wait_for(lock, std::chrono::seconds(5), [this] { return said_.size() >= seen_; })) {
    said_.resize(seen_, "nothing");
  }
}

void raw_client::send(std::uint16_t channel, std::size_t lines, const build& what) {
  std::string frames;
  what(frames);
  detail::address_frames(frames, channel);
  {
    const std::scoped_lock lock(mutex_);
    out_ += frames;
  }
  io_->wake();
  wait_for(lines);
}

void raw_client::expect(std::size_t lines) { wait_for(lines); }

std::vector<std::string> raw_client::said() {
  const std::scoped_lock lock(mutex_);
  return said_;
}

} // namespace millrace::rabbitmq::testing
