#include "transport/in_process/in_process_transport.hpp"

#include "protocol/subject.hpp"
#include "transport/in_process/server.hpp"

#include <millrace/nats/errors.hpp>

#include <atomic>
#include <utility>

namespace millrace::nats::detail {
namespace {

using in_process::subscription_ptr;

constexpr std::size_t max_payload = 1024UL * 1024;
/// The server closes a connection whose PUB or SUB line is longer; the verb, the sizes and the spaces take the rest of
/// its 4096.
constexpr std::size_t max_names = 4000;

class in_process_subscription final : public wire_subscription {
 public:
  in_process_subscription(runtime& rt, std::shared_ptr<in_process_server> server, subscription_ptr s)
      : runtime_(&rt), server_(std::move(server)), subscription_(std::move(s)) {}
  ~in_process_subscription() override {
    server_->unsubscribe(*subscription_);
    subscription_->end();
  }
  task<void> stop(duration bound) override {
    const auto server = server_;
    const auto s = subscription_;
    server->unsubscribe(*s);
    co_await s->drained(runtime_->now() + bound);
    s->end();
  }

 private:
  runtime* runtime_;
  std::shared_ptr<in_process_server> server_;
  subscription_ptr subscription_;
};

class in_process_transport final : public transport {
 public:
  in_process_transport(std::shared_ptr<in_process_server> server, const in_process_options& options,
                       connection_listener& listener)
      : server_(std::move(server)), listener_(&listener), state_(server_->connect(!options.no_echo)),
        inbox_prefix_(options.inbox_prefix + ".C" + std::to_string(state_->id) + "X") {}

  ~in_process_transport() override {
    closed_ = true;
    for (const auto& s : server_->disconnect(*state_))
      s->end();
  }

  result<void> publish(const wire_message& m) noexcept override {
    if (closed_) return fail(errc::closed, std::string(m.subject));
    if (auto checked = check(m); !checked) return checked;
    sent_.fetch_add(1, std::memory_order_relaxed);
    server_->publish(*state_, in_process::make_message(m), m.reply);
    return {};
  }

  /// `pending_limit` is not reached: a message waits only while another thread is in the receiver.
  result<std::unique_ptr<wire_subscription>> subscribe(std::string_view subject, std::string_view queue, receiver& to,
                                                       std::uint64_t) override {
    if (closed_) return fail(errc::closed, std::string(subject));
    const subject_fault fault = check_pattern(subject);
    if (fault != subject_fault::none) return refuse(errc::subscribe, subject, describe(fault));
    if (has_whitespace(queue)) return refuse(errc::subscribe, subject, "the queue group has whitespace");
    if (subject.size() + queue.size() > max_names)
      return refuse(errc::subscribe, subject, "longer than a protocol line");
    return std::make_unique<in_process_subscription>(server_->clock(), server_,
                                                     server_->subscribe(state_, subject, queue, to));
  }

  task<result<void>> flush(duration) override {
    result<void> answer;
    if (closed_) answer = fail(errc::closed, "flush");
    co_return answer;
  }

  task<result<void>> close(duration bound) override {
    result<void> answer;
    if (closed_.exchange(true)) co_return answer;
    const time_point due = server_->clock().now() + bound;
    for (const auto& s : server_->disconnect(*state_)) {
      const bool in_time = co_await s->drained(due);
      s->end();
      if (!in_time) answer = fail(errc::shutdown, "a receiver of '" + s->subject() + "' did not end in time");
    }
    listener_->on_closed(error(errc::closed, "the connection"));
    co_return answer;
  }

  std::string take_last_error() override { return {}; }
  server_facts server() const override { return {"in-process", "2.9.10", max_payload}; }
  transport_counters counters() const override { return {sent_, state_->received, 1}; }
  bool connected() const noexcept override { return !closed_; }
  std::string new_inbox() override { return inbox_prefix_ + std::to_string(++inboxes_); }

 private:
  static std::unexpected<error> refuse(errc kind, std::string_view subject, std::string_view why) {
    return fail(kind, std::string(subject).append(": ").append(why));
  }
  static result<void> check(const wire_message& m) {
    const subject_fault fault = check_subject(m.subject);
    if (fault != subject_fault::none) return refuse(errc::publish, m.subject, describe(fault));
    const subject_fault of_reply = m.reply.empty() ? subject_fault::none : check_subject(m.reply);
    if (of_reply != subject_fault::none) return refuse(errc::publish, m.reply, describe(of_reply));
    if (m.subject.size() + m.reply.size() > max_names)
      return refuse(errc::publish, m.subject, "longer than a protocol line");
    const std::size_t size = in_process::wire_size(m);
    if (size <= max_payload) return {};
    return refuse(errc::publish, m.subject, std::to_string(size) + " bytes with headers, the limit is 1048576");
  }

  std::shared_ptr<in_process_server> server_;
  connection_listener* listener_;
  std::shared_ptr<in_process::connection_state> state_;
  std::string inbox_prefix_;
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> inboxes_{0};
};

} // namespace

std::shared_ptr<transport> make_in_process_transport(std::shared_ptr<in_process_server> server,
                                                     const in_process_options& options, connection_listener& listener) {
  return std::make_shared<in_process_transport>(std::move(server), options, listener);
}

std::shared_ptr<transport> make_in_process_transport(runtime& rt, const in_process_options& options,
                                                     connection_listener& listener) {
  return make_in_process_transport(make_in_process_server(rt), options, listener);
}

} // namespace millrace::nats::detail
