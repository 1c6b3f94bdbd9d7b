#include "protocol/subject.hpp"

#include <millrace/nats/errors.hpp>
#include <millrace/nats/sources.hpp>

namespace millrace::nats {

using detail::subject_fault;

namespace {

std::unexpected<error> refuse(subject_fault fault, const std::string& text) {
  const bool meaning = fault == subject_fault::empty || fault == subject_fault::wildcard;
  return fail(meaning ? errc::invalid_options : errc::subscribe,
              "subject '" + text + "': " + std::string(detail::describe(fault)));
}

result<void> check_group(const std::string& group, const std::string& subject) {
  if (!detail::has_whitespace(group)) return {};
  return fail(errc::subscribe, "subject '" + subject + "': the queue group '" + group + "' has whitespace");
}

result<void> must(bool holds, const jetstream& source, const char* what) {
  if (holds) return {};
  return fail(errc::invalid_options, "stream '" + source.stream() + "', subject '" + source.name() + "': " + what);
}

} // namespace

result<void> subject::check() const {
  if (const subject_fault fault = detail::check_subject(name_); fault != subject_fault::none) {
    // `>` in the middle is no subject of any kind, so what `subject` says of patterns does not hold for it.
    if (fault == subject_fault::wildcard)
      return fail(errc::invalid_options, "subject '" + name_ + "': a pattern; use nats::wildcard");
    return refuse(fault, name_);
  }
  return check_group(group_, name_);
}

result<void> wildcard::check() const {
  if (const subject_fault fault = detail::check_pattern(pattern_); fault != subject_fault::none)
    return refuse(fault, pattern_);
  return check_group(group_, pattern_);
}

deliver_policy deliver_policy::by_start_sequence(std::uint64_t sequence) {
  deliver_policy policy(kind::by_start_sequence);
  policy.sequence_ = sequence;
  return policy;
}

deliver_policy deliver_policy::by_start_time(std::chrono::system_clock::time_point time) {
  deliver_policy policy(kind::by_start_time);
  policy.time_ = time;
  return policy;
}

result<void> jetstream::check() const {
  using namespace std::chrono_literals;
  if (!detail::is_resource_name(stream_)) return fail(errc::jetstream, "stream '" + stream_ + "': not a stream name");
  if (!durable_.empty() && !detail::is_resource_name(durable_))
    return fail(errc::jetstream, "stream '" + stream_ + "', durable '" + durable_ + "': not a consumer name");
  if (const subject_fault fault = detail::check_pattern(subject_); fault != subject_fault::none)
    return fail(fault == subject_fault::empty ? errc::invalid_options : errc::jetstream,
                "stream '" + stream_ + "', subject '" + subject_ + "': " + std::string(detail::describe(fault)));
  if (result<void> r = must(ack_wait_ > 0ns, *this, "ack_wait must be positive"); !r) return r;
  if (result<void> r = must(max_ack_pending_ > 0, *this, "max_ack_pending must be positive"); !r) return r;
  if (result<void> r = must(expires_ >= 1ms, *this, "pull_expires must be at least 1 ms"); !r) return r;
  if (result<void> r = must(heartbeat_ > 0ns, *this, "idle_heartbeat must be positive"); !r) return r;
  if (result<void> r = must(heartbeat_ * 2 <= expires_, *this, "idle_heartbeat is above half of pull_expires"); !r)
    return r;
  return must(deliver_.how() != deliver_policy::kind::by_start_sequence || deliver_.sequence() > 0, *this,
              "the start sequence must be positive");
}

} // namespace millrace::nats
