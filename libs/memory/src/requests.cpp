// Questions and answers.
#include "hub.hpp"

#include <algorithm>
#include <charconv>

namespace millrace::memory {

/// `_reply.<slot>.<round>`
void pending_request::begin() {
  char* at = std::ranges::copy(inbox_prefix, inbox_.data()).out;
  char* const end = inbox_.data() + inbox_.size();
  at = std::to_chars(at, end, slot_).ptr;
  *at++ = '.';
  at = std::to_chars(at, end, ++round_).ptr;
  inbox_size_ = static_cast<std::size_t>(at - inbox_.data());
  answer.payload.clear();
  answer.headers.clear();
  answered.clear();
  waiting = true;
}

std::optional<std::size_t> pending_request::slot_of(std::string_view inbox) noexcept {
  std::size_t slot = 0;
  const char* const end = inbox.data() + inbox.size();
  const auto read = std::from_chars(inbox.data() + inbox_prefix.size(), end, slot);
  if (read.ec != std::errc{} || read.ptr == end || *read.ptr != '.') return std::nullopt;
  return slot;
}

pending_request& hub::new_request() {
  pending_request* request = free_requests_;
  if (request != nullptr) {
    free_requests_ = request->next_free;
  } else {
    requests_.push_back(std::make_unique<pending_request>(*runtime_, requests_.size()));
    request = requests_.back().get();
  }
  request->begin();
  return *request;
}

result<pending_request*> hub::ask(const outgoing& message, topic_state*& recent) {
  lock held(mutex_);
  if (closed()) return fail(errc::closed, "request to '" + std::string(message.destination) + "'");
  topic_state& t = topic_named(message.destination, recent);
  if (std::ranges::all_of(t.mailboxes, [](const mailbox* b) { return b->consumers.empty(); }))
    return fail(errc::publish, "request to '" + std::string(message.destination) + "': nobody listens");
  if (const mailbox* full = full_mailbox(t, 1)) return fail(no_room(t, *full));
  pending_request& request = new_request();
  append(t, message, request.inbox());
  pump_all(t, held);
  return &request;
}

void hub::end_request(pending_request& request) noexcept {
  const lock held(mutex_);
  request.waiting = false;
  request.next_free = free_requests_;
  free_requests_ = &request;
}

/// The first answer completes the request; a later one finds nobody and leaves nothing.
void hub::answer_request(const outgoing& message) {
  const auto slot = pending_request::slot_of(message.destination);
  if (!slot || *slot >= requests_.size()) return;
  pending_request& request = *requests_[*slot];
  if (!request.waiting || request.inbox() != message.destination) return;
  request.waiting = false;
  request.answer.payload.assign(as_text(message.payload));
  if (message.headers != nullptr) request.answer.headers = *message.headers;
  request.answered.set();
}

} // namespace millrace::memory
