#include "hub.hpp"

#include <algorithm>

namespace millrace::memory {

hub::~hub() { disarm_delayed(); }

result<void> hub::connect(runtime& rt) {
  const lock held(mutex_);
  if (closed()) return fail(errc::closed, "the embedded broker was shut down");
  if (runtime_ != nullptr && runtime_ != &rt) {
    return fail(errc::invalid_options, "the embedded broker is connected to another service's clock");
  }
  runtime_ = &rt;
  return {};
}

closed_broker hub::close() noexcept {
  closed_broker left;
  {
    const lock held(mutex_);
    closed_.store(true, std::memory_order_release);
    for (const auto& box : mailboxes_) {
      left.subscriptions += box->consumers.size();
      left.unsettled += box->held;
    }
    for (auto& [inbox, request] : requests_)
      request->answered.set();
    requests_.clear();
  }
  disarm_delayed();
  return left;
}

/// No delay fires any more: the runtime may be gone before the handles are. A timer that fires now takes its node out
/// itself.
void hub::disarm_delayed() noexcept {
  std::vector<node*> waiting;
  {
    const lock held(mutex_);
    for (node* n = delayed_; n != nullptr; n = n->next_delayed)
      waiting.push_back(n);
  }
  for (node* n : waiting) {
    if (!runtime_->disarm(n->wake)) continue;
    const lock held(mutex_);
    unlink_delayed(*n);
    recycle(*n);
  }
}

stored_message& hub::new_message(const outgoing& message, std::string_view reply_to) {
  stored_message* m = free_messages_;
  if (m != nullptr) {
    free_messages_ = m->next_free;
  } else {
    messages_.push_back(std::make_unique<stored_message>());
    m = messages_.back().get();
  }
  m->topic.assign(message.destination);
  m->payload.assign(as_text(message.payload));
  m->headers.clear();
  if (message.headers != nullptr) m->headers.merge(*message.headers);
  if (!reply_to.empty()) m->headers.set("reply-to", reply_to);
  m->holders = 1;
  return *m;
}

void hub::let_go(stored_message& m) noexcept {
  if (--m.holders > 0) return;
  m.next_free = free_messages_;
  free_messages_ = &m;
}

node& hub::new_node() {
  if (incoming* n = free_nodes_.pop()) return *static_cast<node*>(n);
  nodes_.push_back(std::make_unique<node>(*this));
  return *nodes_.back();
}

void hub::recycle(node& n) noexcept {
  let_go(*n.message);
  --n.box->held;
  free_nodes_.push(n);
}

void hub::enqueue(stored_message& m, mailbox& box) {
  node& n = new_node();
  n.hold(m, box);
  box.ready.push(n);
  ++box.held;
}

void hub::keep(topic_state& t, stored_message& m) {
  if (retention_.messages() == 0) return;
  ++m.holders;
  t.retained.push_back(&m);
  t.retained_bytes += m.payload.size();
  const auto over = [&] {
    return t.retained.size() > retention_.messages() ||
           (retention_.bytes() > 0 && t.retained_bytes > retention_.bytes());
  };
  while (t.retained.size() > 1 && over()) {
    t.retained_bytes -= t.retained.front()->payload.size();
    let_go(*t.retained.front());
    t.retained.pop_front();
  }
}

hub::topic_state& hub::topic_named(std::string_view name) {
  auto found = topics_.find(name);
  if (found == topics_.end()) found = topics_.try_emplace(std::string(name)).first;
  return found->second;
}

result<void> hub::check_room(std::string_view destination, std::size_t more) const {
  const auto found = topics_.find(destination);
  if (found == topics_.end()) return {};
  for (const mailbox* box : found->second.mailboxes) {
    if (box->held + more > queue_limit_) {
      return fail(errc::queue_full, "publish to '" + std::string(destination) + "': a subscription holds " +
                                        std::to_string(box->held) + " messages");
    }
  }
  return {};
}

/// Puts the message into every mailbox of its topic; nothing is handed over yet.
std::uint64_t hub::append(topic_state& t, const outgoing& message, std::string_view reply_to) {
  stored_message& m = new_message(message, reply_to);
  const std::uint64_t at = m.sequence = ++t.last_sequence;
  for (mailbox* box : t.mailboxes)
    enqueue(m, *box);
  keep(t, m);
  let_go(m);
  return at;
}

result<receipt> hub::publish(const outgoing& message, std::string_view reply_to) {
  if (message.destination.empty()) return fail(errc::invalid_options, "publish to an empty topic");
  lock held(mutex_);
  if (closed()) return fail(errc::closed, "publish to '" + std::string(message.destination) + "'");
  if (is_inbox(message.destination)) {
    answer_request(message);
    return receipt{};
  }
  if (auto room = check_room(message.destination, 1); !room) return fail(std::move(room).error());
  topic_state& t = topic_named(message.destination);
  receipt accepted;
  accepted.sequence = append(t, message, reply_to);
  pump_all(t, held);
  return accepted;
}

/// All or none, in order, under one lock.
result<void> hub::publish_all(const std::vector<buffered_message>& messages) {
  lock held(mutex_);
  if (closed()) return fail(errc::closed, "commit a transaction");
  std::map<std::string_view, std::size_t> counts;
  for (const auto& m : messages) {
    if (!is_inbox(m.destination)) ++counts[m.destination];
  }
  for (const auto& [destination, count] : counts) {
    if (auto room = check_room(destination, count); !room) return room;
  }
  for (const auto& m : messages) {
    const outgoing message{m.destination, as_bytes(m.payload), &m.headers};
    if (is_inbox(m.destination))
      answer_request(message);
    else
      append(topic_named(m.destination), message, {});
  }
  for (const auto& [destination, count] : counts)
    pump_all(topic_named(destination), held);
  return {};
}

/// The lock is released meanwhile: a subscription that goes shifts the others, which must not be passed over.
void hub::pump_all(topic_state& t, lock& held) noexcept {
  for (std::size_t i = 0; i < t.mailboxes.size();) {
    mailbox* box = t.mailboxes[i];
    pump(*box, held);
    if (i < t.mailboxes.size() && t.mailboxes[i] == box)
      ++i;
    else
      i = 0;
  }
}

bool hub::has_listener(std::string_view topic) const {
  const lock held(mutex_);
  const auto found = topics_.find(topic);
  return found != topics_.end() &&
         std::ranges::any_of(found->second.mailboxes, [](const mailbox* b) { return !b->consumers.empty(); });
}

std::shared_ptr<pending_request> hub::expect_answer(std::string& inbox) {
  const lock held(mutex_);
  inbox = std::string(inbox_prefix) + std::to_string(++request_count_);
  return requests_.emplace(inbox, std::make_shared<pending_request>(*runtime_)).first->second;
}

void hub::forget_request(const std::string& inbox) noexcept {
  const lock held(mutex_);
  requests_.erase(inbox);
}

/// The first answer completes the request; the entry goes at once, so a later one finds nobody and leaves nothing.
void hub::answer_request(const outgoing& message) {
  const auto found = requests_.find(message.destination);
  if (found == requests_.end()) return;
  pending_request& request = *found->second;
  request.answer.payload.assign(as_text(message.payload));
  if (message.headers != nullptr) request.answer.headers = *message.headers;
  request.answered.set();
  requests_.erase(found);
}

} // namespace millrace::memory
