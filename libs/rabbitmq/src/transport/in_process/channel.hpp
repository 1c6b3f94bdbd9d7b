#pragma once

#include "transport/in_process/server_frames.hpp"
#include "transport/in_process/vhost.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::rabbitmq::detail::in_process {

/// What a channel knows of the connection that it is on.
struct channel_place {
  vhost* host = nullptr;
  std::string* out = nullptr; ///< what is sent to the client
  std::uint64_t connection = 0;
  std::uint32_t frame_max = largest_frame;
};

/// The server's side of one channel. What it refuses closes it, or its connection.
class channel final : public consumer_owner, public reply_target {
 public:
  channel(channel_place on, std::uint16_t number) : on_(on), number_(number) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  /// What was not settled goes back.
  ~channel();

  [[nodiscard]] answer<void> on_method(method what, reader& args);
  [[nodiscard]] answer<void> on_header(std::string_view payload);
  [[nodiscard]] answer<void> on_body(std::string_view payload);

  void deliver(const consumer_ptr& to, queue& from, queued m) override;
  void deliver_reply(const message& m) override;

 private:
  struct outstanding {
    queue_ptr from;
    consumer_ptr by;
    queued what;
  };
  struct settled {
    std::uint64_t tag;
    outstanding what;
    ending how;
  };
  struct transaction {
    std::vector<message_ptr> published;
    std::vector<settled> settlements;
  };

  // channel.cpp: topology and consumers
  [[nodiscard]] answer<void> declare_exchange(reader& args);
  [[nodiscard]] answer<void> declare_queue(reader& args);
  [[nodiscard]] answer<void> bind_queue(reader& args);
  [[nodiscard]] answer<void> set_prefetch(reader& args);
  [[nodiscard]] answer<void> consume(reader& args);
  [[nodiscard]] answer<void> consume_replies(const consumer& c);
  [[nodiscard]] answer<void> cancel(reader& args);
  void reply(method what) { server_method(*on_.out, number_, what).end(); }

  // channel_messages.cpp: publishes and settlements
  [[nodiscard]] answer<void> begin_publish(reader& args);
  [[nodiscard]] answer<void> finish_publish();
  [[nodiscard]] answer<void> address_replies(message& m);
  [[nodiscard]] answer<void> perform(const message_ptr& m);
  [[nodiscard]] answer<void> settle(std::uint64_t tag, bool multiple, ending how);
  [[nodiscard]] answer<void> settle_now(outstanding what, ending how);
  [[nodiscard]] answer<void> select(bool confirms);
  [[nodiscard]] answer<void> commit();
  [[nodiscard]] answer<void> roll_back();

  channel_place on_;
  std::uint16_t number_;
  std::map<std::string, consumer_ptr, std::less<>> consumers_;
  std::map<std::uint64_t, outstanding> outstanding_;
  std::uint64_t last_tag_ = 0;
  std::uint64_t last_consumer_ = 0;
  std::uint16_t prefetch_ = 0;
  std::string reply_address_; ///< empty: nobody waits for replies here
  std::string reply_tag_;
  std::optional<std::uint64_t> confirmed_; ///< publishes of a confirming channel
  std::optional<transaction> transaction_;

  std::shared_ptr<message> incoming_;
  std::uint64_t missing_ = 0; ///< bytes of its body
  bool has_header_ = false;
};

} // namespace millrace::rabbitmq::detail::in_process
