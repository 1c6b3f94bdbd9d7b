#include "session/core_publisher.hpp"

#include "protocol/header_check.hpp"
#include "protocol/subject.hpp"

#include <millrace/nats/errors.hpp>

#include <cstdint>
#include <cstring>

namespace millrace::nats::detail {

namespace {

constexpr unsigned no_responders = 503;

std::string place(std::string_view subject) { return "subject '" + std::string(subject) + "'"; }

error refused_subject(std::string_view subject, subject_fault fault) {
  return error(make_error_code(errc::publish), place(subject) + ": " + std::string(describe(fault)));
}

} // namespace

std::optional<error> check_outgoing(const connection& shared, const outgoing& m) {
  if (shared.closed()) [[unlikely]]
    return error(make_error_code(errc::closed), std::string(m.destination));
  if (const subject_fault fault = check_subject(m.destination); fault != subject_fault::none) [[unlikely]]
    return refused_subject(m.destination, fault);
  if (m.headers == nullptr || m.headers->empty()) [[likely]]
    return std::nullopt;
  if (result<void> checked = check_headers(*m.headers); !checked)
    return std::move(checked.error()).at(place(m.destination));
  return std::nullopt;
}

namespace {

/// `b` is as long. A call of memcmp costs a short text more than this.
bool same(std::string_view a, const char* b) noexcept {
  const std::size_t size = a.size();
  const auto differ = [a, b]<class Word>(std::size_t at, Word) {
    Word left;
    Word right;
    std::memcpy(&left, &a[at], sizeof left);
    std::memcpy(&right, b + at, sizeof right);
    return left != right;
  };
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) < size; at += sizeof(std::uint64_t))
    if (differ(at, std::uint64_t{})) return false;
  if (size >= sizeof(std::uint64_t)) return !differ(size - sizeof(std::uint64_t), std::uint64_t{}); // overlaps
  for (; at < size; ++at)
    if (differ(at, std::uint8_t{})) return false;
  return true;
}

/// The last subject that this thread found good, as the C string that the client wants: most publishers name one
/// subject again and again.
class good_subject {
 public:
  /// The C string, or null: it is another subject.
  [[nodiscard]] const char* find(std::string_view subject) const noexcept {
    return subject.size() == size_ && same(subject, text_) ? text_ : nullptr;
  }
  void remember(std::string_view subject) noexcept {
    if (subject.size() >= sizeof text_) return;
    std::memcpy(text_, subject.data(), subject.size());
    text_[subject.size()] = '\0';
    size_ = subject.size();
  }

 private:
  std::size_t size_ = ~std::size_t{0}; ///< at first that of no subject
  char text_[248] = {};
};

constinit thread_local good_subject last_good;

} // namespace

void core_publisher::publish(const outgoing& m, publish_operation& op) noexcept {
  if (m.headers == nullptr && !shared_->closed()) [[likely]] {
    if (const char* subject = last_good.find(m.destination); subject != nullptr && plain_(subject, m.payload))
      return op.complete_now();
  }
  publish_checked(m, op);
}

void core_publisher::publish_checked(const outgoing& m, publish_operation& op) noexcept {
  if (std::optional<error> fault = check_outgoing(*shared_, m)) return op.complete_now(fail(std::move(*fault)));
  last_good.remember(m.destination);
  wire_message out;
  out.subject = m.destination;
  out.payload = m.payload;
  out.headers = m.headers;
  result<void> sent = wire_.publish(out);
  if (sent) return op.complete_now();
  op.complete_now(fail(std::move(sent.error())));
}

task<result<reply_message>> core_publisher::request(outgoing m, duration timeout) {
  std::optional<error> fault = check_outgoing(*shared_, m);
  if (fault) co_return fail(std::move(*fault));
  wire_message out;
  out.subject = m.destination;
  out.payload = m.payload;
  out.headers = m.headers;
  result<received> answer = co_await mux_call(shared_->mux(), shared_->clock(), out, timeout);
  if (!answer) {
    if (answer.error() == make_error_code(errc::request_timeout))
      co_return fail(errc::request_timeout, place(m.destination));
    co_return fail(std::move(answer.error()));
  }
  if (status_of(*answer) == no_responders) co_return fail(errc::publish, place(m.destination) + ": nobody listens");
  reply_message reply;
  reply.payload = as_text(answer->payload());
  answer->load_headers(reply.headers);
  co_return reply;
}

} // namespace millrace::nats::detail
