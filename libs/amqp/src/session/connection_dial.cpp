#include "session/connection.hpp"
#include "session/sender.hpp"

#include <millrace/log.hpp>

#include <proton/connection.h>
#include <proton/session.h>

#include <utility>

namespace millrace::amqp::detail {

void connection::begin(std::shared_ptr<outcome_of> first) {
  first_ = std::move(first);
  hosts_left_ = target_.hosts.size();
  attempt_due_ = hub_->clock.now() + hub_->settings.connect_timeout;
  dial_next();
}

void connection::dial_next() {
  state_ = state::dialling;
  if (!first_) attempt_due_ = hub_->clock.now() + hub_->settings.connect_timeout;
  engine_ = std::make_unique<engine>();
  engine_->open(hub_->settings, hub_->container_id, target_.login, target_.hosts[host_].host);
  io_->dial(target_.hosts[host_]);
}

void connection::on_connected() noexcept {
  if (state_ != state::dialling) return;
  state_ = state::opening;
  engine_due_ = engine_->tick(hub_->clock.now());
  finish_turn();
}

void connection::opened() {
  state_ = state::ready;
  session_losses_ = 0;
  attempt_due_.reset();
  pauses_.reset();
  engine_due_ = engine_->tick(hub_->clock.now()); // the peer's wish for empty frames is known now
  if (first_) {
    std::exchange(first_, nullptr)->done.set();
    return;
  }
  log(log_level::info, "amqp: connected again to " + target_.hosts[host_].text());
  // NOLINTNEXTLINE(modernize-loop-convert): may grow meanwhile
  for (std::size_t i = 0; i < consumers_.size(); ++i)
    consumers_[i]->restore(*this);
  // NOLINTNEXTLINE(modernize-loop-convert): may grow meanwhile
  for (std::size_t i = 0; i < links_.size(); ++i)
    links_[i]->restore(*this);
}

void connection::on_lost(std::string said) noexcept {
  error why(errc::connect, std::move(said));
  if (state_ == state::opening && engine_->login_refused()) {
    on_transport_end();
  } else if (state_ == state::dialling || state_ == state::opening) {
    if (engine_) why = with_words(std::move(why), engine_->failure());
    attempt_failed(std::move(why), false);
  } else {
    connection_lost(std::move(why));
  }
  finish_turn();
}

/// `final`: another host would say the same, such as a refused login.
void connection::attempt_failed(error why, bool final) {
  why = error(why).at(target_.hosts[host_].text());
  forget_connection(why);
  host_ = (host_ + 1) % target_.hosts.size();
  if (!first_) {
    log(log_level::warning, "amqp: " + why.message());
    return wait_and_retry();
  }
  const bool out_of_time = attempt_due_ && hub_->clock.now() >= *attempt_due_;
  if (--hosts_left_ > 0 && !final && !out_of_time) return dial_next();
  const auto first = std::exchange(first_, nullptr);
  end_everything(why);
  first->failure = std::move(why);
  first->done.set();
}

void connection::connection_lost(error why) {
  if (state_ == state::over || state_ == state::waiting) return;
  if (state_ == state::closing) return finish_close(false);
  if (first_ || state_ != state::ready) return attempt_failed(std::move(why), false);
  why = error(why).at(target_.hosts[host_].text());
  log(log_level::warning, "amqp: " + why.message());
  state_ = state::waiting; // before the links hear of it
  forget_connection(why);
  host_ = (host_ + 1) % target_.hosts.size();
  wait_and_retry();
}

/// Drops the socket, and with it every session and link.
void connection::forget_connection(const error& why) {
  if (state_ != state::over) state_ = state::waiting;
  io_->drop();
  write_busy_ = false;
  engine_due_.reset();
  publish_session_ = nullptr;
  if (engine_) dead_engines_.push_back(std::move(engine_));
  const auto consumers = consumers_; // a loss may take one out
  for (const auto& c : consumers)
    c->lost_connection(*this, why);
  const auto links = links_;
  for (const auto& l : links)
    l->lost_with(*this, why);
}

void connection::wait_and_retry() {
  state_ = state::waiting;
  attempt_due_.reset();
  retry_due_ = hub_->clock.now() + pauses_.next();
}

void connection::end_everything(const error& why) {
  state_ = state::over;
  over_ = true;
  attempt_due_.reset();
  retry_due_.reset();
  engine_due_.reset();
  step_due_.reset();
  call_due_.reset();
  for (auto& left : hub_->end())
    left(this); // they find that it is over
  std::vector<std::shared_ptr<sender>> late;
  {
    const std::scoped_lock lock(hub_->mutex);
    late = std::exchange(hub_->ready_senders, {});
  }
  for (const auto& c : consumers_)
    c->end(why);
  const error closed(errc::closed, why.message());
  for (const auto& l : links_)
    l->end(closed);
  for (const auto& s : late)
    s->end(closed);
}

} // namespace millrace::amqp::detail
