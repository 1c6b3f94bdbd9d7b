#pragma once

#include "session/link_end.hpp"

#include <string>

namespace millrace::amqp::detail {

/// A link on the publishers' session: attached when it is wanted, and again after a loss if it is wanted still.
class shared_link : public link_end {
 public:
  virtual ~shared_link() = default;

  /// Attaches if something wants it and the session is there. The connection calls it after each change.
  void restore(connection& c);
  /// Times out what is due; answers when to come again.
  [[nodiscard]] virtual std::optional<time_point> sweep(connection& c, time_point now) = 0;
  /// The shutdown closes it, once what is under way has its answer.
  virtual void begin_close(connection& c) = 0;
  /// Nothing more is to be closed.
  [[nodiscard]] bool is_closed() const noexcept { return link() == nullptr; }
  [[nodiscard]] const std::optional<error>& close_error() const noexcept { return close_error_; }
  /// Since when it could be closed without harm; nothing: it is in use, or not open.
  [[nodiscard]] virtual std::optional<time_point> idle_since() const { return std::nullopt; }
  virtual void close_idle() {}
  /// The connection is over.
  virtual void end(const error& why) = 0;

 protected:
  [[nodiscard]] virtual bool is_wanted() const = 0;
  [[nodiscard]] virtual pn_link_t* make_link(connection& c, pn_session_t* session) = 0;
  void on_closed(connection& c, std::optional<error> why) override;
  void keep_close_error(error why) {
    if (!close_error_) close_error_ = std::move(why);
  }

 private:
  std::optional<error> close_error_;
};

} // namespace millrace::amqp::detail
