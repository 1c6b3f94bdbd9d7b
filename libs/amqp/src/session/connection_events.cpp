#include "session/connection.hpp"

#include <millrace/log.hpp>

#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/session.h>
#include <proton/transport.h>

#include <array>

namespace millrace::amqp::detail {

void connection::dispatch() {
  while (engine_) {
    pn_event_t* const e = engine_->next_event();
    if (e == nullptr) return;
    on_event(e);
  }
}

void connection::on_event(pn_event_t* e) {
  switch (pn_event_type(e)) {
  case PN_CONNECTION_REMOTE_OPEN:
    return on_remote_open();
  case PN_CONNECTION_REMOTE_CLOSE:
    return on_remote_close();
  case PN_SESSION_REMOTE_OPEN:
  case PN_SESSION_REMOTE_CLOSE:
    return on_session_event(e);
  case PN_LINK_REMOTE_OPEN:
  case PN_LINK_REMOTE_CLOSE:
  case PN_LINK_REMOTE_DETACH:
  case PN_LINK_FLOW:
  case PN_DELIVERY:
    return on_link_event(e);
  case PN_TRANSPORT_ERROR:
  case PN_TRANSPORT_TAIL_CLOSED:
    return on_transport_end();
  default:
    return;
  }
}

void connection::on_remote_open() {
  if (state_ != state::opening) return;
  peer_ = engine_->peer();
  {
    const std::scoped_lock lock(hub_->mutex);
    hub_->peer = peer_;
  }
  begin_publish_session();
}

void connection::begin_publish_session() {
  publish_session_ = pn_session(engine_->connection());
  pn_session_open(publish_session_);
}

pn_session_t* connection::begin_session(consumer& owner) {
  pn_session_t* const session = pn_session(engine_->connection());
  pn_session_set_context(session, &owner);
  pn_session_open(session);
  return session;
}

void connection::forget_session(pn_session_t* session) noexcept {
  if (session != nullptr) pn_session_set_context(session, nullptr);
}

void connection::on_remote_close() {
  pn_connection_t* const c = engine_->connection();
  if (state_ == state::closing && step_ == close_step::connection) return finish_close(true);
  const std::string said = text_of(pn_connection_remote_condition(c));
  error why(errc::connect, "the peer closed the connection");
  why = with_words(std::move(why), said);
  pn_connection_close(c);
  (void)flush(); // our close, as far as it goes
  if (state_ == state::opening)
    attempt_failed(std::move(why), false);
  else
    connection_lost(std::move(why));
}

void connection::on_session_event(pn_event_t* e) {
  pn_session_t* const session = pn_event_session(e);
  const bool publishers = session == publish_session_;
  if (pn_event_type(e) == PN_SESSION_REMOTE_OPEN) {
    if (!publishers) return;
    if (state_ == state::opening) return opened();
    // NOLINTNEXTLINE(modernize-loop-convert): may grow meanwhile
    for (std::size_t i = 0; i < links_.size(); ++i)
      links_[i]->restore(*this);
    return;
  }
  const std::string said = text_of(pn_session_remote_condition(session));
  auto* const user = static_cast<consumer*>(pn_session_get_context(session));
  pn_session_set_context(session, nullptr);
  pn_session_close(session);
  if (publishers)
    publish_session_lost(said);
  else if (user != nullptr)
    user->on_session_gone(*this, error(errc::session, "the peer ended the session").from_server(0, said));
  if (engine_) pn_session_free(session);
}

/// Links that were open come back on the next session; those that were being attached are the likely cause.
void connection::publish_session_lost(const std::string& condition) {
  publish_session_ = nullptr;
  if (state_ == state::closing) {
    const auto links = links_;
    for (const auto& l : links)
      l->lost_with(*this, error(errc::session, "the peer ended the session").from_server(0, condition));
    return step_done();
  }
  if (state_ == state::opening)
    return attempt_failed(error(errc::session, "the publishers' session was refused").from_server(0, condition), false);
  log(log_level::warning, "amqp: the peer ended the publishers' session: " + condition);
  if (++session_losses_ >= 3) {
    return connection_lost(error(errc::session, "the peer ends every session").from_server(0, condition));
  }
  begin_publish_session();
  const auto links = links_; // a loss may take one out
  for (const auto& l : links) {
    const bool open = l->link_state() == link_end::state::open;
    l->lost_with(*this, error(open ? errc::receive : errc::attach, "the session was ended").from_server(0, condition));
  }
}

void connection::on_link_event(pn_event_t* e) {
  pn_link_t* const link = pn_event_link(e);
  auto* const user = static_cast<link_end*>(pn_link_get_context(link));
  const pn_event_type_t type = pn_event_type(e);
  if (user == nullptr) {
    if (type == PN_LINK_REMOTE_CLOSE || type == PN_LINK_REMOTE_DETACH) pn_link_free(link); // we closed it before
    return;
  }
  switch (type) {
  case PN_DELIVERY:
    return user->on_delivery(*this, pn_event_delivery(e));
  case PN_LINK_FLOW:
    return user->on_flow(*this);
  case PN_LINK_REMOTE_OPEN:
    user->remote_open(*this);
    if (user->link_state() == link_end::state::open) session_losses_ = 0;
    return;
  default:
    return user->remote_gone(*this, type == PN_LINK_REMOTE_CLOSE);
  }
}

void connection::on_transport_end() {
  const std::string said = engine_->failure();
  if (state_ == state::opening) {
    const bool login = engine_->login_refused();
    error why(errc::connect, login ? "SASL: the peer refused the login, or offers no mechanism that we may use"
                                   : "the peer closed the connection during the handshake");
    why = with_words(std::move(why), said);
    return attempt_failed(std::move(why), login);
  }
  error why(errc::connect, "the connection failed");
  why = with_words(std::move(why), said);
  (void)flush(); // tells the peer why, as far as it goes
  connection_lost(std::move(why));
}

bool connection::is_for_good(std::string_view condition) const noexcept {
  constexpr std::array<std::string_view, 6> final_conditions{"amqp:unauthorized-access", "amqp:not-found",
                                                             "amqp:resource-deleted",    "amqp:not-allowed",
                                                             "amqp:invalid-field",       "amqp:not-implemented"};
  for (const std::string_view c : final_conditions)
    if (condition.starts_with(c)) return true;
  return false;
}

} // namespace millrace::amqp::detail
