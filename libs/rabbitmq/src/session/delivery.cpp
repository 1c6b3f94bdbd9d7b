#include "session/delivery.hpp"

#include "protocol/table.hpp"

#include <millrace/context.hpp>
#include <millrace/log.hpp>
#include <millrace/rabbitmq/fields.hpp>

#include <algorithm>
#include <charconv>
#include <string>

namespace millrace::rabbitmq::detail {
namespace {

constexpr std::uint64_t largest_body = 512ULL * 1024 * 1024; ///< what the server can be configured to
constexpr std::size_t largest_reserve = 1024UL * 1024;       ///< of an announced size that is still to come
constexpr std::size_t largest_kept = 256UL * 1024;           ///< of a delivery that waits for its next message

} // namespace

void delivery::begin(const deliver_args& args, std::uint32_t generation) {
  bytes_.assign(args.exchange);
  bytes_.append(args.routing_key);
  exchange_size_ = args.exchange.size();
  key_size_ = args.routing_key.size();
  tag_ = args.tag;
  redelivered_ = args.redelivered;
  generation_ = generation;
  missing_ = 1; // the header is missing
  settled_ = false;
  headers_ready_ = false;
}

bool delivery::header(std::string_view payload) {
  reader in(payload);
  const content_header header(in);
  if (!in.ok() || header.body_size > largest_body) return false;
  properties_size_ = header.properties.size();
  missing_ = header.body_size;
  bytes_.reserve(bytes_.size() + properties_size_ + std::min<std::size_t>(header.body_size, largest_reserve));
  bytes_.append(header.properties);
  return true;
}

bool delivery::body(std::string_view part) {
  if (part.size() > missing_) return false;
  bytes_.append(part);
  missing_ -= part.size();
  return true;
}

void delivery::finish() noexcept {
  const std::string_view all = bytes_;
  exchange_ = all.substr(0, exchange_size_);
  subject_ = all.substr(exchange_size_, key_size_);
  payload_ = as_bytes(all.substr(exchange_size_ + key_size_ + properties_size_));
}

std::string_view delivery::properties() const noexcept {
  return std::string_view(bytes_).substr(exchange_size_ + key_size_, properties_size_);
}

const header_map& delivery::headers() {
  if (!headers_ready_) {
    headers_.clear();
    add_headers(headers_, received_properties(properties()));
    headers_ready_ = true;
  }
  return headers_;
}

std::uint32_t delivery::copies() const noexcept {
  const auto found = find_field(received_properties(properties()).table, retry_count_header);
  std::uint32_t n = 0;
  if (found && found->what == field_value::kind::text) {
    std::from_chars(found->text.data(), found->text.data() + found->text.size(), n);
  }
  return std::min(n, std::uint32_t{1} << 30);
}

std::uint32_t delivery::delivery_count() const noexcept {
  if (pool_->seat().queue.type != queue_spec::kind::quorum) return 0;
  const std::uint32_t returns = std::min(delivery_count_of(properties()), std::uint32_t{1} << 30);
  return returns + copies() + 1;
}

bool delivery::delays() const noexcept { return pool_->seat().queue.delayed.has_value(); }

std::string_view delivery::partition_key() { return headers().get(partition_key_header).value_or(""); }

const void* delivery::field(const field_id& id) {
  if (&id == &exchange) return &exchange_;
  if (&id == &routing_key) return &subject_;
  if (&id == &redelivered) return &redelivered_;
  if (&id == &delivery_tag) return &tag_;
  return nullptr;
}

/// Whether the channel that it came from is still open.
bool delivery::is_current() const noexcept {
  const consumer_seat& seat = pool_->seat();
  const std::scoped_lock lock(seat.shared->mutex);
  return !seat.shared->closed && seat.gate.open && seat.gate.generation == generation_;
}

result<void> delivery::settle(settlement how) noexcept {
  consumer_seat& seat = pool_->seat();
  const bool stream = seat.queue.type == queue_spec::kind::stream;
  const bool again = how.kind == settlement_kind::retry || how.kind == settlement_kind::retry_after;
  if ((stream && again) || (how.kind == settlement_kind::retry_after && !delays())) {
    const std::string place = (stream ? "stream '" : "queue '") + seat.queue.name + "'";
    if (!is_current()) return fail(errc::closed, "retry a message of " + place);
    return fail(millrace::errc::unsupported, stream ? place : place + " has no delay");
  }
  try {
    if (how.kind == settlement_kind::retry_after) return retry_later(how.delay);
    return settle_on_channel(how);
  } catch (const std::bad_alloc&) {
    return fail(errc::consume, "settle a message of queue '" + seat.queue.name + "': out of memory");
  }
}

/// A stream keeps its messages whatever we say; the server closes the connection over a reject of one (540).
result<void> delivery::settle_on_channel(settlement how) {
  consumer_seat& seat = pool_->seat();
  link& to = *seat.shared;
  bool wake = false;
  {
    const std::scoped_lock lock(to.mutex);
    if (to.closed || !seat.gate.open || seat.gate.generation != generation_) {
      return fail(errc::closed, "settle a message of queue '" + seat.queue.name + "': its channel is gone");
    }
    settled_ = true;
    if (how.kind == settlement_kind::ack || seat.queue.type == queue_spec::kind::stream)
      append_ack(to.out, seat.gate.number, tag_);
    else
      append_reject(to.out, seat.gate.number, tag_, how.kind == settlement_kind::retry);
    wake = to.promise_flush();
  }
  if (wake) to.wake();
  return {};
}

/// The copy goes out on the same channel before the ack: a crash between them duplicates the message and never loses
/// it.
result<void> delivery::retry_later(duration wait) {
  consumer_seat& seat = pool_->seat();
  if (seat.most_attempts > 0 && delivery_count() >= seat.most_attempts)
    return settle_on_channel({settlement_kind::drop, {}});
  const delay& how = *seat.queue.delayed;
  const bool by_exchange = how.how() == delay::kind::delayed_exchange;
  const std::string target = how.target_for(seat.queue.name);
  header_map copied = headers();
  copied.erase("amqp-expiration");
  copied.erase("amqp-priority");
  copied.set(retry_count_header, std::to_string(copies() + 1));
  message_properties out;
  if (auto fits = out.take(copied); !fits) return fits;
  char room[16];
  const std::string_view text = milliseconds_text(wait, room);
  if (text.empty()) return fail(errc::invalid_options, "queue '" + seat.queue.name + "': a delay of more than 49 days");
  if (by_exchange)
    std::from_chars(text.data(), text.data() + text.size(), out.delay);
  else
    out.expiration = text;
  out.delivery_mode = 2;
  out.priority = received_properties(properties()).priority;
  link& to = *seat.shared;
  bool wake = false;
  {
    const std::scoped_lock lock(to.mutex);
    if (to.closed || !seat.gate.open || seat.gate.generation != generation_) {
      return fail(errc::closed, "retry a message of queue '" + seat.queue.name + "': its channel is gone");
    }
    settled_ = true;
    const std::string_view exchange_to = by_exchange ? std::string_view(target) : std::string_view();
    const std::string_view key = by_exchange ? std::string_view(seat.queue.name) : std::string_view(target);
    append_publish(to.out, seat.gate.number, exchange_to, key, false, out, payload_, to.frame_max);
    append_ack(to.out, seat.gate.number, tag_);
    wake = to.promise_flush();
  }
  if (wake) to.wake();
  return {};
}

/// Unsettled, it goes back to its queue now; while the subscription stops, the closing channel returns it.
void delivery::release() noexcept {
  if (!settled_ && !pool_->seat().stopping.load(std::memory_order_acquire)) {
    try {
      (void)settle_on_channel({settlement_kind::retry, {}}); // an error: the channel is gone and the server has it back
    } catch (...) {
      log(log_level::warning, "rabbitmq: an unsettled message was not returned; it comes back when its channel closes");
    }
  }
  if (bytes_.capacity() > largest_kept) std::string().swap(bytes_);
  pool_->give_back(*this);
}

delivery& delivery_pool::take() {
  if (local_ == nullptr) local_ = returned_.exchange(nullptr, std::memory_order_acquire);
  if (delivery* d = local_; d != nullptr) {
    local_ = d->free_next;
    return *d;
  }
  all_.push_back(std::make_unique<delivery>(*this));
  return *all_.back();
}

void delivery_pool::give_back(delivery& d) noexcept {
  delivery* head = returned_.load(std::memory_order_relaxed);
  do {
    if (head == orphaned()) return count_down(1);
    d.free_next = head;
  } while (!returned_.compare_exchange_weak(head, &d, std::memory_order_acq_rel, std::memory_order_acquire));
}

void delivery_pool::orphan() noexcept {
  std::ptrdiff_t here = 0;
  for (const delivery* d = returned_.exchange(orphaned(), std::memory_order_acq_rel); d != nullptr; d = d->free_next)
    ++here;
  for (const delivery* d = local_; d != nullptr; d = d->free_next)
    ++here;
  count_down(here - static_cast<std::ptrdiff_t>(all_.size()));
}

/// The sum of what was out when the owner left (negative) and what came back since reaches zero once, at the end.
void delivery_pool::count_down(std::ptrdiff_t n) noexcept {
  if (out_.fetch_sub(n, std::memory_order_acq_rel) == n) delete this;
}

} // namespace millrace::rabbitmq::detail
