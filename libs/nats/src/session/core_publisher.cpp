#include "session/core_publisher.hpp"

#include "protocol/header_check.hpp"
#include "protocol/subject.hpp"

#include <millrace/nats/errors.hpp>

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

/// The last subject that this thread found good, as the C string that the client wants: most publishers name one
/// subject again and again.
class good_subject {
 public:
  [[nodiscard]] bool is(std::string_view subject) const noexcept {
    return subject.size() == size_ && size_ != 0 && std::memcmp(subject.data(), text_, size_) == 0;
  }
  void remember(std::string_view subject) noexcept {
    if (subject.size() >= sizeof text_) return;
    std::memcpy(text_, subject.data(), subject.size());
    text_[subject.size()] = '\0';
    size_ = subject.size();
  }
  [[nodiscard]] std::string_view text() const noexcept { return {text_, size_}; }

 private:
  std::size_t size_ = 0;
  char text_[248] = {};
};

constinit thread_local good_subject last_good;

} // namespace

void core_publisher::publish(const outgoing& m, publish_operation& op) noexcept {
  wire_message out;
  out.payload = m.payload;
  good_subject& good = last_good;
  const bool plain = m.headers == nullptr || m.headers->empty();
  if (plain && !shared_->closed() && good.is(m.destination)) [[likely]] {
    out.subject = good.text();
    out.subject_ends_in_nul = true;
  } else {
    if (std::optional<error> fault = check_outgoing(*shared_, m)) return op.complete_now(fail(std::move(*fault)));
    good.remember(m.destination);
    out.subject = m.destination;
    out.headers = m.headers;
  }
  result<void> sent = wire_.publish(out);
  if (sent) [[likely]]
    return op.complete_now();
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
