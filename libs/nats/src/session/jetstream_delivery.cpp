#include "session/jetstream_delivery.hpp"

#include "session/pull_reader.hpp"

#include <millrace/nats/errors.hpp>
#include <millrace/nats/fields.hpp>

namespace millrace::nats::detail {

void jetstream_delivery::load(received message, std::uint32_t generation) noexcept {
  message_ = std::move(message);
  payload_ = message_.payload();
  subject_ = message_.subject();
  generation_ = generation;
  headers_ready_ = false;
  parsed_ready_ = false;
}

const header_map& jetstream_delivery::headers() {
  if (headers_ready_) return headers_;
  headers_.clear();
  message_.load_headers(headers_);
  headers_ready_ = true;
  return headers_;
}

std::uint32_t jetstream_delivery::delivery_count() const noexcept {
  return static_cast<std::uint32_t>(delivered_count(message_.reply()));
}

const void* jetstream_delivery::field(const field_id& id) {
  if (!parsed_ready_) {
    parsed_ = parse_ack_subject(message_.reply());
    parsed_ready_ = true;
  }
  if (!parsed_) return nullptr;
  if (&id == &nats::stream) return &parsed_->stream;
  if (&id == &nats::consumer) return &parsed_->consumer;
  if (&id == &nats::stream_sequence) return &parsed_->stream_sequence;
  if (&id == &nats::consumer_sequence) return &parsed_->consumer_sequence;
  if (&id == &nats::delivered) return &parsed_->delivered;
  if (&id == &nats::pending) return &parsed_->pending;
  return nullptr;
}

namespace {

result<void> answer(transport& wire, const received& message, bytes_view text) {
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends in a NUL
  if (message.text_ends_in_nul() && wire.plain()(message.reply().data(), text)) return {};
  wire_message out;
  out.subject = message.reply();
  out.payload = text;
  return wire.publish(out);
}

} // namespace

result<void> jetstream_delivery::settle(settlement how) noexcept {
  pull_account& account = *pool_.context();
  if (account.shared->closed()) return fail(errc::closed, std::string(subject_));
  if (generation_ != account.consumer_generation.load(std::memory_order_acquire))
    return fail(errc::closed, std::string(subject_) + ": its consumer was lost");
  ack_storage storage;
  result<void> sent = answer(account.shared->wire(), message_, as_bytes(ack_payload(how, storage)));
  if (!sent || how.kind == settlement_kind::retry || how.kind == settlement_kind::retry_after) return sent;
  account.settled.record(message_.reply());
  if (account.unsettled != nullptr)
    if (const std::optional<message_identity> it = identify(message_.reply()))
      account.unsettled->settled(it->stream_sequence);
  return sent;
}

void jetstream_delivery::release() noexcept {
  if (payload_.size() > jetstream_pool::largest_kept) unload();
  const std::shared_ptr<pull_account>& account = pool_.context();
  // Both sequentially consistent: either this thread sees the reader's mark, or the reader sees this release.
  const std::uint64_t released = account->released.fetch_add(1) + 1;
  std::shared_ptr<pull_reader> told;
  std::uint64_t mark = account->tell_at.load();
  if (released >= mark && account->tell_at.compare_exchange_strong(mark, pull_account::nobody))
    told = account->reader.lock();
  pool_.give_back(*this); // the pool, and the account with it, may be gone after this
  if (told != nullptr) told->on_released();
}

} // namespace millrace::nats::detail
