#include "session/publish_lane.hpp"

#include "protocol/wire_format.hpp"

namespace millrace::pubsub::detail {
namespace {

constexpr std::uint32_t topic_field = 1;
constexpr std::uint32_t messages_field = 2;

std::unique_ptr<publish_request> part_of(const publish_request& whole, std::size_t from, std::size_t to) {
  auto part = std::make_unique<publish_request>();
  std::string body;
  std::size_t i = 0;
  wire_reader in(*whole.body);
  for (wire_field field; in.next(field);) {
    if (field.number == topic_field) put_bytes(body, topic_field, field.content);
    if (field.number != messages_field) continue;
    if (i >= from && i < to) {
      put_bytes(body, messages_field, field.content);
      part->bytes += bytes_field_size(field.content.size());
    }
    ++i;
  }
  part->body = std::make_shared<const std::string>(std::move(body));
  part->waiting.assign(whole.waiting.begin() + static_cast<std::ptrdiff_t>(from),
                       whole.waiting.begin() + static_cast<std::ptrdiff_t>(to));
  part->key = whole.key;
  part->give_up_at = whole.give_up_at;
  return part;
}

} // namespace

std::pair<std::unique_ptr<publish_request>, std::unique_ptr<publish_request>> halves_of(const publish_request& whole) {
  const std::size_t all = whole.waiting.size();
  return {part_of(whole, 0, all / 2), part_of(whole, all / 2, all)};
}

} // namespace millrace::pubsub::detail
