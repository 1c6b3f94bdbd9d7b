#include "session/link_end.hpp"

#include "session/engine.hpp"

#include <proton/condition.h>
#include <proton/link.h>
#include <proton/terminus.h>

namespace millrace::amqp::detail {

void link_end::attach(pn_link_t* made) {
  link_ = made;
  state_ = state::attaching;
  pn_link_set_context(link_, this);
  pn_link_open(link_);
}

void link_end::close(bool keep) {
  if (link_ == nullptr || state_ == state::closing) return;
  state_ = state::closing;
  if (keep)
    pn_link_detach(link_);
  else
    pn_link_close(link_);
}

/// A peer that refuses answers an attach without a terminus, and detaches next.
bool link_end::peer_has_terminus() const {
  pn_terminus_t* const end = pn_link_is_sender(link_) ? pn_link_remote_target(link_) : pn_link_remote_source(link_);
  return pn_terminus_get_type(end) != PN_UNSPECIFIED;
}

void link_end::remote_open(connection& c) {
  if (state_ != state::attaching || !peer_has_terminus()) return;
  state_ = state::open;
  on_open(c);
}

void link_end::remote_gone(connection& c, bool closed) {
  pn_link_t* const gone = link_;
  const state before = state_;
  const std::string said = text_of(pn_link_remote_condition(gone));
  if (before != state::closing) {
    if (closed)
      pn_link_close(gone);
    else
      pn_link_detach(gone);
  }
  pn_link_set_context(gone, nullptr);
  pn_link_free(gone);
  link_ = nullptr;
  state_ = state::idle;
  if (before == state::closing) {
    std::optional<error> why;
    if (!said.empty()) why = error(errc::detach, place()).from_server(0, said);
    return on_closed(c, std::move(why));
  }
  const bool was_open = before == state::open;
  error why(was_open ? errc::receive : errc::attach, place());
  why = with_words(std::move(why), said);
  on_lost(c, std::move(why), was_open);
}

void link_end::refuse_peer(connection& c, const char* condition, const char* text) {
  pn_condition_t* const said = pn_link_condition(link_);
  pn_condition_set_name(said, condition);
  pn_condition_set_description(said, text);
  abandon();
  on_lost(c, error(errc::receive, place() + ": the peer sent " + text).from_server(0, condition), true);
}

void link_end::abandon() noexcept {
  if (link_ == nullptr) return;
  pn_link_set_context(link_, nullptr); // the connection frees it when the peer has answered
  pn_link_close(link_);
  link_ = nullptr;
  state_ = state::idle;
}

void link_end::lost_with(connection& c, const error& why) {
  const state before = state_;
  link_ = nullptr;
  state_ = state::idle;
  if (before == state::idle) return;
  if (before == state::closing) return on_closed(c, error(why).at(place()));
  on_lost(c, error(why).at(place()), before == state::open);
}

} // namespace millrace::amqp::detail
