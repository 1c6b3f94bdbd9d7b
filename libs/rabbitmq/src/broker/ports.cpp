#include "broker/ports.hpp"

#include <millrace/rabbitmq/errors.hpp>

namespace millrace::rabbitmq::detail {
namespace {

const message_options no_options;

result<void> check_text(const char* what, std::string_view text) {
  if (text.size() <= most_short) return {};
  return fail(errc::invalid_options, std::string(what) + " is longer than 255 bytes");
}

} // namespace

result<message_properties> lane_publisher::properties_of(const outgoing& message, char (&room)[16]) const {
  const message_options& own =
      message.options != nullptr ? *static_cast<const message_options*>(message.options) : no_options;
  message_properties out;
  const std::string place = message.destination.size() > most_short ? "publish" : std::string();
  if (auto fits = check_text("the routing key", message.destination); !fits)
    return fail(std::move(fits).error().at(place));
  if (message.headers != nullptr && !message.headers->empty()) {
    if (auto taken = out.take(*message.headers); !taken) {
      return fail(std::move(taken).error().at("publish to '" + std::string(message.destination) + "'"));
    }
  }
  if (auto fits = check_text("the type", own.type); !fits) return fail(std::move(fits).error());
  if (auto fits = check_text("the app-id", own.app_id); !fits) return fail(std::move(fits).error());
  out.type = own.type;
  out.app_id = own.app_id;
  out.delivery_mode = own.persistent.value_or(defaults_.persistent.value_or(true)) ? 2 : 1;
  if (own.priority)
    out.priority = *own.priority;
  else if (defaults_.priority)
    out.priority = *defaults_.priority;
  if (own.timestamp) out.timestamp = own.timestamp->time_since_epoch().count();
  const std::optional<duration>& expires = own.expiration ? own.expiration : defaults_.expiration;
  if (!expires) return out;
  out.expiration = milliseconds_text(*expires, room);
  if (out.expiration.empty()) {
    return fail(errc::invalid_options,
                "publish to '" + std::string(message.destination) + "': an expiration below 0 or above 49 days");
  }
  return out;
}

void lane_publisher::publish(const outgoing& message, publish_operation& op) noexcept {
  char room[16];
  auto properties = properties_of(message, room);
  if (!properties) return op.complete_now(fail(std::move(properties).error()));
  lane_message out;
  out.exchange = exchange_;
  out.routing_key = message.destination;
  out.properties = &*properties;
  out.payload = message.payload;
  out.mandatory = mandatory_;
  lane_->publish(out, op);
}

result<std::string> lane_publisher::encode(const outgoing& message) const {
  char room[16];
  auto properties = properties_of(message, room);
  if (!properties) return fail(std::move(properties).error());
  std::string frames;
  append_publish(frames, 0, exchange_, message.destination, mandatory_, *properties, message.payload,
                 lane_->frame_max());
  return frames;
}

task<result<reply_message>> requester::request(outgoing message, duration timeout) {
  const auto to = lane_; // outlives this port
  char room[16];
  auto properties = properties_of(message, room);
  if (!properties) co_return fail(std::move(properties).error());
  std::string exchange_to = exchange();
  std::string destination(message.destination);
  auto reply =
      co_await to->request(std::move(exchange_to), std::move(destination), message.payload, *properties, timeout);
  co_return reply;
}

} // namespace millrace::rabbitmq::detail
