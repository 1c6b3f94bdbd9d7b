#include "session/session.hpp"

#include "session/request_lane.hpp"

#include <millrace/log.hpp>

#include <algorithm>
#include <random>

namespace millrace::rabbitmq::detail {
namespace {

handshake_config config_of(const target& to, const broker_settings& settings) {
  handshake_config config;
  config.user = to.user;
  config.password = to.password;
  config.vhost = to.vhost;
  config.connection_name = settings.connection_name;
  config.external = settings.external_login;
  const auto heartbeat = settings.heartbeat ? settings.heartbeat : to.heartbeat;
  if (heartbeat) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*heartbeat).count();
    config.heartbeat = static_cast<std::uint16_t>(std::clamp<std::int64_t>(seconds, 0, 65535));
  }
  return config;
}

} // namespace

session::session(std::shared_ptr<link> shared, std::shared_ptr<net::transport> io, target to)
    : link_(std::move(shared)), io_(std::move(io)), target_(std::move(to)),
      handshake_(config_of(target_, link_->settings)), plain_(std::make_shared<plain_lane>(link_)),
      backoff_(link_->settings.backoff_first, link_->settings.backoff_most, std::random_device{}()), alarm_(*this) {
  lanes_.push_back(plain_);
}

session::~session() {
  {
    const std::scoped_lock lock(link_->mutex);
    link_->closed = true;
  }
  io_->stop();
  disarm_alarm();
  if (state_ != state::over) end_everything(error(errc::closed, "the connection was dropped without a shutdown"));
}

task<result<void>> session::connect() {
  const auto first = std::make_shared<outcome_of>(link_->clock);
  io_->start(*this);
  link_->post([first](session* s) { s->begin(first); });
  co_await first->done.wait();
  if (first->failure) co_return fail(std::move(*first->failure));
  co_return result<void>{};
}

task<bool> session::shutdown() {
  {
    const std::scoped_lock lock(link_->mutex);
    link_->closed = true; // lifecycle L3: before any I/O
  }
  const auto closing = std::make_shared<outcome_of>(link_->clock);
  const bool posted = link_->post([closing](session* s) { s->begin_close(closing); });
  if (!posted) co_return false;
  co_await closing->done.wait();
  io_->stop();
  co_await resume_on(link_->clock); // behind the last turn of a transport that runs there
  co_return closing->handshake;
}

void session::begin(std::shared_ptr<outcome_of> first) {
  first_ = std::move(first);
  hosts_left_ = target_.hosts.size();
  attempt_due_ = link_->clock.now() + target_.connect_timeout.value_or(link_->settings.connect_timeout);
  dial_next();
}

void session::dial_next() {
  state_ = state::dialling;
  if (!first_) attempt_due_ = link_->clock.now() + target_.connect_timeout.value_or(link_->settings.connect_timeout);
  io_->dial(target_.hosts[host_]);
}

void session::on_connected() noexcept {
  if (state_ != state::dialling) return;
  state_ = state::shaking;
  send([&](std::string& out) { handshake_.begin(out); });
  finish_turn();
}

void session::handshake_done() {
  const agreement& agreed = handshake_.agreed();
  channels_.limit(agreed.channel_max);
  {
    const std::scoped_lock lock(link_->mutex);
    link_->frame_max = agreed.frame_max;
  }
  silent_ticks_ = 0;
  heartbeat_due_.reset();
  if (agreed.heartbeat != 0) heartbeat_due_ = link_->clock.now() + std::chrono::milliseconds(500) * agreed.heartbeat;
  state_ = state::preparing;
  plain_->want(*this, true);
}

void session::prepared() {
  if (state_ != state::preparing) return;
  state_ = state::ready;
  attempt_due_.reset();
  backoff_.reset();
  if (first_) {
    std::exchange(first_, nullptr)->done.set();
    return;
  }
  log(log_level::info, "rabbitmq: connected again to " + target_.hosts[host_].text());
  for (std::size_t i = 0; i < consumers_.size(); ++i) // NOLINT(modernize-loop-convert): these may change it
    consumers_[i]->restore(*this);
  for (std::size_t i = 0; i < lanes_.size(); ++i) // NOLINT(modernize-loop-convert)
    lanes_[i]->want(*this, false);
}

/// The publish channel cannot be opened: at the start an error, later another attempt.
void session::not_prepared(std::uint16_t code, std::string_view text) {
  if (state_ == state::preparing) {
    attempt_failed(error(errc::connect, "the publish channel was refused").from_server(code, std::string(text)));
  } else {
    plain_->want(*this, true);
  }
}

void session::on_lost(std::string said) noexcept {
  error why(errc::connect, std::move(said));
  if (state_ == state::shaking) why = handshake_.lost(why);
  if (state_ == state::dialling || state_ == state::shaking || state_ == state::preparing)
    attempt_failed(std::move(why));
  else
    connection_lost(std::move(why));
  finish_turn();
}

void session::attempt_failed(error why) {
  const std::string host = target_.hosts[host_].text();
  const bool dialled = state_ != state::dialling;
  forget_connection(0, {});
  host_ = (host_ + 1) % target_.hosts.size();
  why = error(why).at(host);
  if (!first_) {
    log(log_level::warning, "rabbitmq: " + why.message());
    return wait_and_retry();
  }
  const bool out_of_time = attempt_due_ && link_->clock.now() >= *attempt_due_;
  if (--hosts_left_ > 0 && !dialled && !out_of_time) return dial_next();
  state_ = state::over;
  attempt_due_.reset();
  const auto first = std::exchange(first_, nullptr);
  end_everything(why);
  first->failure = std::move(why);
  first->done.set();
}

void session::connection_lost(error why) {
  if (state_ == state::over || state_ == state::waiting) return;
  if (state_ == state::closing) return finish_close(false);
  if (first_ || state_ != state::ready) return attempt_failed(std::move(why));
  log(log_level::warning, "rabbitmq: " + target_.hosts[host_].text() + ": " + why.message());
  state_ = state::waiting; // before the channels' users hear of it
  forget_connection(0, why.message());
  wait_and_retry();
}

/// Drops the socket, and with it every channel.
void session::forget_connection(std::uint16_t code, std::string_view text) {
  if (state_ != state::over) state_ = state::waiting;
  io_->drop();
  ++connection_;
  write_busy_ = false;
  heartbeat_due_.reset();
  {
    const std::scoped_lock lock(link_->mutex);
    link_->blocked = false;
  }
  for (channel_user* user : channels_.take_all())
    user->on_gone(*this, code, text);
  const std::scoped_lock lock(link_->mutex);
  link_->out.clear(); // the gates are closed: nothing is added from here on
  link_->flush_promised = false;
}

void session::wait_and_retry() {
  state_ = state::waiting;
  attempt_due_.reset();
  retry_due_ = link_->clock.now() + backoff_.next();
}

void session::begin_close(std::shared_ptr<outcome_of> closing) {
  closing_ = std::move(closing);
  if (state_ != state::ready) return finish_close(false);
  state_ = state::closing;
  close_due_ = link_->clock.now() + link_->settings.close_timeout;
  send([](std::string& out) { append_connection_close(out, 200, "OK"); });
}

void session::finish_close(bool handshake) {
  if (!closing_) return;
  const error why(errc::closed, "the connection was shut down");
  state_ = state::over;
  for (const auto& c : consumers_)
    c->end(why); // they are not told of a loss
  forget_connection(0, {});
  end_everything(why);
  const auto closing = std::exchange(closing_, nullptr);
  closing->handshake = handshake;
  closing->done.set();
}

void session::end_everything(const error& why) {
  state_ = state::over;
  attempt_due_.reset();
  retry_due_.reset();
  close_due_.reset();
  call_due_.reset();
  for (auto& left : link_->end())
    left(this); // they find that it is over
  for (const auto& c : consumers_)
    c->end(why);
  for (const auto& l : lanes_)
    l->end(why);
}

} // namespace millrace::rabbitmq::detail
