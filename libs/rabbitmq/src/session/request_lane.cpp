#include "session/request_lane.hpp"

#include "session/session.hpp"

#include <charconv>

namespace millrace::rabbitmq::detail {
namespace {

constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";
constexpr std::string_view id_prefix = "mr-";
constexpr std::uint64_t largest_reply = 512ULL * 1024 * 1024;

std::uint64_t id_of(std::string_view correlation) noexcept {
  std::uint64_t id = 0;
  if (!correlation.starts_with(id_prefix)) return 0;
  correlation.remove_prefix(id_prefix.size());
  const auto read = std::from_chars(correlation.data(), correlation.data() + correlation.size(), id);
  return read.ptr == correlation.data() + correlation.size() ? id : 0;
}

/// An awaited publish of a lane.
class lane_publish {
 public:
  lane_publish(lane& to, const lane_message& message, runtime& rt) noexcept
      : to_(&to), message_(&message), operation_(&rt) {}
  [[nodiscard]] bool await_ready() {
    to_->publish(*message_, operation_);
    return operation_.done();
  }
  bool await_suspend(std::coroutine_handle<> waiter) noexcept { return operation_.wait(waiter); }
  [[nodiscard]] result<receipt> await_resume() noexcept { return operation_.take(); }

 private:
  lane* to_;
  const lane_message* message_;
  publish_operation operation_;
};

} // namespace

task<result<reply_message>> request_lane::request(std::string exchange, std::string destination, bytes_view payload,
                                                  message_properties properties, duration timeout) {
  const std::string place = "request to '" + destination + "'";
  const time_point due = shared().clock.now() + timeout;
  const auto waiter = std::make_shared<pending>(shared().clock);
  std::uint64_t id = 0;
  {
    const std::scoped_lock lock(shared().mutex);
    id = ++last_id_;
    pending_.emplace(id, waiter);
  }
  const std::string correlation = std::string(id_prefix) + std::to_string(id);
  properties.correlation_id = correlation;
  properties.reply_to = reply_queue;
  lane_message message;
  message.exchange = exchange;
  message.routing_key = destination;
  message.properties = &properties;
  message.payload = payload;
  message.mandatory = true;
  message.due = due;
  message.handed = &waiter->handed;
  lane_publish handed(*this, message, shared().clock);
  auto sent = co_await handed;
  if (!sent) {
    (void)take(id);
    if (sent.error() == millrace::errc::timeout) co_return fail(errc::request_timeout, place);
    co_return fail(std::move(sent).error().at(place));
  }
  const bool answered = co_await waiter->answered.wait_until(due);
  if (!answered) {
    (void)take(id); // a late reply finds nobody
    co_return fail(errc::request_timeout, place);
  }
  if (waiter->failure) co_return fail(std::move(*waiter->failure).at(place));
  co_return std::move(waiter->reply);
}

std::shared_ptr<request_lane::pending> request_lane::take(std::uint64_t id) noexcept {
  const std::scoped_lock lock(shared().mutex);
  const auto found = pending_.find(id);
  if (found == pending_.end()) return nullptr;
  auto waiter = std::move(found->second);
  pending_.erase(found);
  return waiter;
}

bool request_lane::on_open(session& s) {
  s.send([&](std::string& out) {
    std::string frame;
    consume_flags flags;
    flags.no_ack = true;
    append_consume(frame, reply_queue, flags, {});
    address_frames(frame, number());
    out += frame;
  });
  return true;
}

bool request_lane::on_method(session& s, method what, reader& args) {
  if (what == method::basic_consume_ok) {
    opened();
    return true;
  }
  if (what == method::basic_cancel) return true;
  if (reading_ != reading::nothing) return false;
  has_header_ = false;
  if (what == method::basic_deliver) {
    reading_ = reading::reply;
    (void)deliver_args(args);
  } else if (what == method::basic_return) {
    const return_args returned(args);
    reading_ = reading::returned;
    returned_to_ = returned.routing_key;
  } else {
    return lane::on_method(s, what, args);
  }
  return args.ok();
}

bool request_lane::on_header(session& /*s*/, std::string_view payload) {
  reader in(payload);
  const content_header header(in);
  if (!in.ok() || reading_ == reading::nothing || has_header_ || header.body_size > largest_reply) return false;
  has_header_ = true;
  properties_ = header.properties;
  missing_ = header.body_size;
  body_.clear();
  if (missing_ == 0) finish_content();
  return true;
}

bool request_lane::on_body(session& /*s*/, std::string_view payload) {
  if (!has_header_ || payload.size() > missing_) return false;
  body_.append(payload);
  missing_ -= payload.size();
  if (missing_ == 0) finish_content();
  return true;
}

void request_lane::finish_content() {
  const received_properties properties(properties_);
  const auto waiter = take(id_of(properties.correlation_id));
  const bool is_reply = std::exchange(reading_, reading::nothing) == reading::reply;
  has_header_ = false;
  if (!waiter) return;
  if (is_reply) {
    waiter->reply.payload = body_;
    add_headers(waiter->reply.headers, properties);
  } else {
    waiter->failure = error(errc::request, "nobody listens").from_server(312, "NO_ROUTE");
  }
  waiter->answered.set();
}

/// A question that the channel has not had yet goes to the next one.
void request_lane::gate_closed() noexcept {
  std::erase_if(pending_, [this](auto& entry) {
    if (entry.second->handed) lost_.push_back(std::move(entry.second));
    return entry.second == nullptr;
  });
}

void request_lane::on_gone(session& s, std::uint16_t code, std::string_view text) noexcept {
  reading_ = reading::nothing;
  has_header_ = false;
  lane::on_gone(s, code, text);
  std::vector<std::shared_ptr<pending>> lost;
  {
    const std::scoped_lock lock(shared().mutex);
    lost = std::exchange(lost_, {});
  }
  for (const auto& waiter : lost) {
    waiter->failure = error(errc::request, "the requester's channel was lost").from_server(code, std::string(text));
    waiter->answered.set();
  }
}

} // namespace millrace::rabbitmq::detail
