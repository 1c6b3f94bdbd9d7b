#pragma once

#include "mailbox.hpp"
#include "message.hpp"
#include "pending_request.hpp"

#include <millrace/memory.hpp>
#include <millrace/outgoing.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::memory {

/// A message of a transaction, before its commit.
struct buffered_message {
  std::string destination;
  std::string payload;
  header_map headers;
};

/// A topic, by its name.
struct topic_state {
  std::string_view name; ///< the key of the hub's map
  std::uint64_t last_sequence = 0;
  std::deque<stored_message*> retained;
  std::size_t retained_bytes = 0;
  std::vector<mailbox*> mailboxes;
};

/// A publish that a mailbox of its topic has no room for.
[[nodiscard]] error no_room(const topic_state& t, const mailbox& full);

/// The state that a broker, its copies and every handle share: topics, mailboxes and the pools. Thread-safe; no lock is
/// held while a sink runs. It lives as long as a handle or a delivery does.
class hub : public std::enable_shared_from_this<hub> {
 public:
  hub() = default;
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;
  ~hub();

  // Configuration, before the first connect.
  void retain(retention keep) noexcept { retention_ = keep; }
  void queue_limit(std::size_t messages) noexcept { queue_limit_ = messages; }

  [[nodiscard]] result<void> connect(runtime& rt);
  [[nodiscard]] closed_broker close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  [[nodiscard]] runtime& rt() const noexcept { return *runtime_; }

  /// Answers the message's sequence number; 0 for an answer to a request. `recent`: the topic that this publisher
  /// published to last, or null; guarded by the hub's mutex.
  [[nodiscard]] result<std::uint64_t> publish(const outgoing& message, topic_state*& recent);
  [[nodiscard]] result<void> publish_all(const std::vector<buffered_message>& messages);
  [[nodiscard]] result<void> seek(consumer& c, position to);
  /// Publishes a question. The answer comes to the request that is returned; give that back with `end_request`.
  [[nodiscard]] result<pending_request*> ask(const outgoing& message, topic_state*& recent);
  void end_request(pending_request& request) noexcept;

  [[nodiscard]] result<std::unique_ptr<consumer>> subscribe(const topic& source, sink& to, std::size_t window,
                                                            std::size_t workers);
  /// No delivery begins after this; `consumer::quiet` says when the last one ended.
  void close_consumer(consumer& c) noexcept;
  /// Takes a closed, quiet consumer out; what it holds is given back when it is released.
  void remove(std::unique_ptr<consumer> c) noexcept;

  void released(node& n) noexcept;
  void delay_over(node& n) noexcept;

 private:
  using lock = std::unique_lock<std::mutex>;

  [[nodiscard]] topic_state& topic_named(std::string_view name);
  [[nodiscard]] topic_state& topic_named(std::string_view name, topic_state*& recent);
  [[nodiscard]] const mailbox* full_mailbox(const topic_state& t, std::size_t more) const noexcept;
  void append(topic_state& t, const outgoing& message, std::string_view reply_to = {});
  [[nodiscard]] result<void> check_kept(const std::string& topic, position where) const;
  void enqueue_from(const topic_state& t, mailbox& box, position where);
  [[nodiscard]] stored_message& new_message(const topic_state& t, const outgoing& message);
  void let_go(stored_message& m) noexcept;
  [[nodiscard]] node& new_node();
  void recycle(node& n) noexcept;
  void enqueue(stored_message& m, mailbox& box);
  void keep(topic_state& t, stored_message& m);
  void answer_request(const outgoing& message);
  [[nodiscard]] pending_request& new_request();
  [[nodiscard]] mailbox& mailbox_for(const topic& source);
  void pump(mailbox& box, lock& held) noexcept;
  void pump_all(topic_state& t, lock& held) noexcept;
  void hand_over(consumer& c, lock& held) noexcept;
  void handed_over(consumer& c) noexcept;
  void released_last(node& n, lock& held) noexcept;
  void give_back(node& n) noexcept;
  void forget_leaving(consumer& c) noexcept;
  void recycle_last(node& n, consumer& c) noexcept;
  void delay(node& n) noexcept;
  void unlink_delayed(node& n) noexcept;
  void disarm_delayed() noexcept;
  void drop_mailbox(mailbox& box) noexcept;

  mutable std::mutex mutex_;
  std::condition_variable handed_over_; ///< a consumer that is closed is not delivered to any more
  runtime* runtime_ = nullptr;
  retention retention_;
  std::size_t queue_limit_ = 65'536;
  std::atomic<bool> closed_ = false;
  std::map<std::string, topic_state, std::less<>> topics_;
  std::vector<std::unique_ptr<mailbox>> mailboxes_;
  std::vector<std::unique_ptr<consumer>> leaving_;         ///< removed while their deliveries are out
  std::vector<std::unique_ptr<pending_request>> requests_; ///< used again and again
  pending_request* free_requests_ = nullptr;
  std::vector<std::unique_ptr<node>> nodes_;
  incoming_batch free_nodes_;
  std::vector<std::unique_ptr<stored_message>> messages_;
  stored_message* free_messages_ = nullptr;
  node* delayed_ = nullptr;
  std::size_t out_ = 0;       ///< nodes in the hands of dispatch
  std::shared_ptr<hub> self_; ///< set while nodes are out
};

} // namespace millrace::memory
