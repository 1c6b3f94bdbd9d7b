#pragma once

#include "session/hub.hpp"
#include "session/shared_link.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace millrace::amqp::detail {

/// The link of one publisher to the peer's transaction coordinator. It attaches with the first `begin`.
class coordinator final : public shared_link, public std::enable_shared_from_this<coordinator> {
 public:
  explicit coordinator(std::shared_ptr<hub> shared) : hub_(std::move(shared)) {}

  // On the runtime.
  [[nodiscard]] task<result<std::shared_ptr<open_work>>> declare();
  [[nodiscard]] task<result<void>> discharge(std::shared_ptr<open_work> work, bool commit);
  /// Rolls back without waiting.
  void abandon(const std::shared_ptr<open_work>& work) noexcept;

  std::optional<time_point> sweep(connection& c, time_point now) override;
  void begin_close(connection& c) override;
  void end(const error& why) override;
  void on_flow(connection& /*c*/) override { pump(); }
  void on_delivery(connection& c, pn_delivery_t* d) override;

 protected:
  void on_open(connection& /*c*/) override { pump(); }
  void on_lost(connection& c, error why, bool was_open) override;
  [[nodiscard]] bool is_wanted() const override { return !waiting_.empty(); }
  [[nodiscard]] pn_link_t* make_link(connection& c, pn_session_t* session) override;
  [[nodiscard]] std::string place() const override { return "transaction coordinator"; }

 private:
  /// One declare or discharge on its way.
  struct control {
    control(runtime& rt, std::string encoded) : body(std::move(encoded)), done(rt) {}
    std::string body;
    event done;
    bool is_declare = false;
    std::string id; ///< the declared one
    std::optional<error> failure;
  };
  using control_ptr = std::shared_ptr<control>;
  [[nodiscard]] bool hand_over(const control_ptr& what);
  [[nodiscard]] task<result<std::string>> ask(control_ptr what);
  void pump();
  void fail_all(const error& why);

  std::shared_ptr<hub> hub_;
  std::deque<control_ptr> waiting_; ///< for the link, or for credit
  std::deque<control_ptr> sent_;
  std::uint64_t last_tag_ = 0;
};

} // namespace millrace::amqp::detail
