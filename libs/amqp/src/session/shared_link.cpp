#include "session/shared_link.hpp"

#include "session/connection.hpp"

namespace millrace::amqp::detail {

void shared_link::restore(connection& c) {
  if (link_state() != state::idle || !c.is_ready() || !is_wanted()) return;
  attach(make_link(c, c.publish_session()));
}

void shared_link::on_closed(connection& c, std::optional<error> why) {
  if (why && c.is_closing()) keep_close_error(std::move(*why));
  c.step_done();
  restore(c);
}

} // namespace millrace::amqp::detail
