#include "hub.hpp"

#include <algorithm>
#include <utility>

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
    for (const auto& request : requests_) {
      if (std::exchange(request->waiting, false)) request->answered.set();
    }
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

stored_message& hub::new_message(const topic_state& t, const outgoing& message) {
  stored_message* m = free_messages_;
  if (m != nullptr) {
    free_messages_ = m->next_free;
  } else {
    messages_.push_back(std::make_unique<stored_message>());
    m = messages_.back().get();
  }
  m->topic = t.name;
  m->payload.assign(as_text(message.payload));
  if (message.headers != nullptr)
    m->headers = *message.headers;
  else
    m->headers.clear();
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

topic_state& hub::topic_named(std::string_view name) {
  auto found = topics_.find(name);
  if (found == topics_.end()) {
    found = topics_.try_emplace(std::string(name)).first;
    found->second.name = found->first;
  }
  return found->second;
}

topic_state& hub::topic_named(std::string_view name, topic_state*& recent) {
  if (recent == nullptr || recent->name != name) recent = &topic_named(name);
  return *recent;
}

const mailbox* hub::full_mailbox(const topic_state& t, std::size_t more) const noexcept {
  for (const mailbox* box : t.mailboxes) {
    if (box->held + more > queue_limit_) return box;
  }
  return nullptr;
}

error no_room(const topic_state& t, const mailbox& full) {
  return {errc::queue_full,
          "publish to '" + std::string(t.name) + "': a subscription holds " + std::to_string(full.held) + " messages"};
}

/// Puts the message into every mailbox of its topic; nothing is handed over yet.
void hub::append(topic_state& t, const outgoing& message, std::string_view reply_to) {
  ++t.last_sequence;
  if (t.mailboxes.empty() && retention_.messages() == 0) return; // nobody is to get it
  stored_message& m = new_message(t, message);
  if (!reply_to.empty()) m.headers.set("reply-to", reply_to);
  m.sequence = t.last_sequence;
  for (mailbox* box : t.mailboxes)
    enqueue(m, *box);
  keep(t, m);
  let_go(m);
}

result<std::uint64_t> hub::publish(const outgoing& message, topic_state*& recent) {
  if (message.destination.empty()) return fail(errc::invalid_options, "publish to an empty topic");
  lock held(mutex_);
  if (closed()) return fail(errc::closed, "publish to '" + std::string(message.destination) + "'");
  if (is_inbox(message.destination)) {
    answer_request(message);
    return 0;
  }
  topic_state& t = topic_named(message.destination, recent);
  if (const mailbox* full = full_mailbox(t, 1)) return fail(no_room(t, *full));
  append(t, message);
  const std::uint64_t at = t.last_sequence;
  pump_all(t, held);
  return at;
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
    const topic_state& t = topic_named(destination);
    if (const mailbox* full = full_mailbox(t, count)) return fail(no_room(t, *full));
  }
  for (const auto& m : messages) {
    const outgoing message{m.destination, as_bytes(m.payload), &m.headers};
    if (is_inbox(m.destination))
      answer_request(message);
    else
      append(topic_named(m.destination), message);
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

} // namespace millrace::memory
