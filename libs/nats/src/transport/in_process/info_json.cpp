#include "transport/in_process/info_json.hpp"

#include "transport/in_process/time_text.hpp"

#include <boost/json.hpp>

namespace millrace::nats::detail::in_process {
namespace {

namespace json = boost::json;

json::object stream_config(const stream& s) {
  return {{"name", s.name()},
          {"subjects", json::array(s.subjects().begin(), s.subjects().end())},
          {"retention", "limits"},
          {"max_consumers", -1},
          {"max_msgs", s.store().limits().messages},
          {"max_bytes", s.store().limits().bytes},
          {"max_age", 0},
          {"max_msgs_per_subject", -1},
          {"max_msg_size", -1},
          {"discard", "old"},
          {"storage", "memory"},
          {"num_replicas", 1},
          {"duplicate_window", stream::duplicate_window.count()}};
}

std::string time_of(const message_store& store, std::uint64_t sequence) {
  const stored_message* stored = store.find(sequence);
  return stored == nullptr ? "0001-01-01T00:00:00Z" : format_time(stored->time);
}

json::object stream_state(const stream& s) {
  const message_store& store = s.store();
  const std::uint64_t first = store.last() == 0 ? 0 : store.first();
  return {{"messages", store.size()},
          {"bytes", store.bytes()},
          {"first_seq", first},
          {"first_ts", time_of(store, first)},
          {"last_seq", store.last()},
          {"last_ts", time_of(store, store.last())},
          {"num_subjects", store.subjects().size()},
          {"consumer_count", s.consumers()}};
}

} // namespace

json::object info_of(const stream& s) {
  return {{"total", 0},
          {"offset", 0},
          {"limit", 0},
          {"config", stream_config(s)},
          {"created", format_time(s.created())},
          {"state", stream_state(s)}};
}

json::object info_of(std::string_view stream_name, const consumer& c) {
  const consumer_position p = c.position();
  return {{"stream_name", json::string_view(stream_name.data(), stream_name.size())},
          {"name", c.name()},
          {"created", format_time(c.created())},
          {"config", to_json(c.config())},
          {"delivered", {{"consumer_seq", p.consumer_sequence}, {"stream_seq", p.stream_sequence}}},
          {"ack_floor", {{"consumer_seq", p.floor_consumer_sequence}, {"stream_seq", p.floor_stream_sequence}}},
          {"num_ack_pending", p.ack_pending},
          {"num_redelivered", p.redelivered},
          {"num_waiting", p.waiting},
          {"num_pending", p.pending}};
}

} // namespace millrace::nats::detail::in_process
