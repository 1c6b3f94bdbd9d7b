#pragma once

#include "protocol/header_block.hpp"
#include "protocol/subject.hpp"
#include "session/connection.hpp"
#include "transport/transport.hpp"

#include <millrace/nats.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::nats::detail::testing {

struct scripted_message {
  std::string subject;
  std::string reply;
  std::string payload;
  std::string block;
};

inline received make_scripted(std::string subject, std::string reply, std::string payload, std::string block = {}) {
  static constexpr message_ops ops{
      .load_headers = [](void* m,
                         header_map& into) { parse_header_block(static_cast<scripted_message*>(m)->block, into); },
      .header = [](void* m, const char* name) -> std::string_view {
        return find_in_header_block(static_cast<scripted_message*>(m)->block, name);
      },
      .free = [](void* m) noexcept { delete static_cast<scripted_message*>(m); },
  };
  auto* const m = new scripted_message{std::move(subject), std::move(reply), std::move(payload), std::move(block)};
  return received(m->subject, m->reply, as_bytes(m->payload), !m->block.empty(), m, ops);
}

/// A transport that records what is sent, answers as told, and fails the n-th call of each kind.
class scripted_transport final : public transport {
 public:
  struct sent {
    std::string subject;
    std::string reply;
    std::string payload;
    header_map headers;
  };
  class subscription final : public wire_subscription {
   public:
    subscription(scripted_transport& t, std::string p) : transport_(t), pattern_(std::move(p)) {}
    ~subscription() override { transport_.receivers.erase(pattern_); }
    task<void> stop(duration) override {
      transport_.receivers.erase(pattern_);
      co_return;
    }

   private:
    scripted_transport& transport_;
    std::string pattern_;
  };

  result<void> publish(const wire_message& m) noexcept override {
    if (fails(publishes_, fail_publish)) return fail(errc::publish, "scripted: " + std::string(m.subject));
    sent s{std::string(m.subject), std::string(m.reply), std::string(as_text(m.payload)), {}};
    if (m.headers != nullptr) s.headers.merge(*m.headers);
    out.push_back(s);
    if (answer) answer(s);
    return {};
  }
  result<std::unique_ptr<wire_subscription>> subscribe(std::string_view subject, std::string_view, receiver& to,
                                                       std::uint64_t) override {
    if (fails(subscribes_, fail_subscribe)) return fail(errc::subscribe, "scripted: " + std::string(subject));
    receivers[std::string(subject)] = &to;
    return std::make_unique<subscription>(*this, std::string(subject));
  }
  task<result<void>> flush(duration) override {
    if (flush_fault) co_return fail(*flush_fault);
    co_return result<void>();
  }
  task<result<void>> close(duration) override {
    if (close_fault) co_return fail(*close_fault);
    co_return result<void>();
  }
  std::string take_last_error() override { return std::exchange(last_error, {}); }
  server_facts server() const override { return {}; }
  transport_counters counters() const override { return {out.size(), 0, 1}; }
  bool connected() const noexcept override { return true; }
  std::string new_inbox() override { return "_INBOX." + std::to_string(++inboxes_); }

  /// Delivers to whoever subscribed to it.
  void deliver(const std::string& subject, std::string payload, std::string block = {}, std::string reply = {}) {
    for (const auto& [pattern, to] : receivers)
      if (matches(pattern, subject))
        return to->on_message(make_scripted(subject, std::move(reply), std::move(payload), std::move(block)), false);
  }
  /// A message of a stream on the inbox of its pull.
  void deliver_stream(const std::string& inbox_pattern, const std::string& subject, const std::string& ack,
                      std::string payload, bool more = false) {
    receivers.at(inbox_pattern)->on_message(make_scripted(subject, ack, std::move(payload)), more);
  }
  [[nodiscard]] std::vector<sent> to(const std::string& prefix) const {
    std::vector<sent> found;
    for (const sent& s : out)
      if (s.subject.starts_with(prefix)) found.push_back(s);
    return found;
  }

  std::vector<sent> out;
  std::map<std::string, receiver*> receivers;
  std::function<void(const sent&)> answer;
  int fail_publish = 0; ///< which call fails; 0: none, -1: every
  int fail_subscribe = 0;
  std::optional<error> flush_fault;
  std::optional<error> close_fault;
  std::string last_error;

 private:
  static bool fails(int& count, int which) noexcept { return which == -1 || ++count == which; }
  int publishes_ = 0;
  int subscribes_ = 0;
  int inboxes_ = 0;
};

} // namespace millrace::nats::detail::testing
