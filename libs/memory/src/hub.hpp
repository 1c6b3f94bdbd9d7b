#pragma once

#include "mailbox.hpp"
#include "message.hpp"

#include <millrace/memory.hpp>
#include <millrace/outgoing.hpp>

#include <atomic>
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

/// Where requests wait for their answers: no topics, so that an answer that comes too late leaves nothing behind.
inline constexpr std::string_view inbox_prefix = "_reply.";
[[nodiscard]] inline bool is_inbox(std::string_view name) noexcept { return name.starts_with(inbox_prefix); }

/// A request that waits for its answer.
struct pending_request {
  explicit pending_request(runtime& rt) noexcept : answered(rt) {}
  event answered;
  reply_message answer;
};

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

  [[nodiscard]] result<receipt> publish(const outgoing& message, std::string_view reply_to = {});
  [[nodiscard]] result<void> publish_all(const std::vector<buffered_message>& messages);
  [[nodiscard]] result<void> seek(consumer& c, position to);
  [[nodiscard]] std::shared_ptr<pending_request> expect_answer(std::string& inbox);
  void forget_request(const std::string& inbox) noexcept;
  [[nodiscard]] bool has_listener(std::string_view topic) const;

  [[nodiscard]] result<std::unique_ptr<consumer>> subscribe(const topic& source, sink& to, std::size_t window,
                                                            std::size_t workers);
  /// No delivery begins after this; `consumer::quiet` says when the last one ended.
  void close_consumer(consumer& c) noexcept;
  /// Takes a closed, quiet consumer out; what it holds is given back when it is released.
  void remove(std::unique_ptr<consumer> c) noexcept;

  void released(node& n) noexcept;
  void delay_over(node& n) noexcept;

 private:
  struct topic_state {
    std::uint64_t last_sequence = 0;
    std::deque<stored_message*> retained;
    std::size_t retained_bytes = 0;
    std::vector<mailbox*> mailboxes;
  };
  using lock = std::unique_lock<std::mutex>;

  [[nodiscard]] topic_state& topic_named(std::string_view name);
  [[nodiscard]] result<void> check_room(std::string_view destination, std::size_t more) const;
  std::uint64_t append(topic_state& t, const outgoing& message, std::string_view reply_to);
  [[nodiscard]] result<void> check_kept(const std::string& topic, position where) const;
  void enqueue_from(const topic_state& t, mailbox& box, position where);
  [[nodiscard]] stored_message& new_message(const outgoing& message, std::string_view reply_to);
  void let_go(stored_message& m) noexcept;
  [[nodiscard]] node& new_node();
  void recycle(node& n) noexcept;
  void enqueue(stored_message& m, mailbox& box);
  void keep(topic_state& t, stored_message& m);
  void answer_request(const outgoing& message);
  [[nodiscard]] mailbox& mailbox_for(const topic& source);
  void pump(mailbox& box, lock& held) noexcept;
  void pump_all(topic_state& t, lock& held) noexcept;
  void hand_over(consumer& c, lock& held) noexcept;
  void give_back(node& n) noexcept;
  void forget_leaving(consumer& c) noexcept;
  void recycle_last(node& n, consumer& c) noexcept;
  void delay(node& n) noexcept;
  void unlink_delayed(node& n) noexcept;
  void disarm_delayed() noexcept;
  void drop_mailbox(mailbox& box) noexcept;

  mutable std::mutex mutex_;
  runtime* runtime_ = nullptr;
  retention retention_;
  std::size_t queue_limit_ = 65'536;
  std::atomic<bool> closed_ = false;
  std::map<std::string, topic_state, std::less<>> topics_;
  std::vector<std::unique_ptr<mailbox>> mailboxes_;
  std::vector<std::unique_ptr<consumer>> leaving_; ///< removed while their deliveries are out
  std::map<std::string, std::shared_ptr<pending_request>, std::less<>> requests_;
  std::uint64_t request_count_ = 0;
  std::vector<std::unique_ptr<node>> nodes_;
  incoming_batch free_nodes_;
  std::vector<std::unique_ptr<stored_message>> messages_;
  stored_message* free_messages_ = nullptr;
  node* delayed_ = nullptr;
  std::size_t out_ = 0;       ///< nodes in the hands of dispatch
  std::shared_ptr<hub> self_; ///< set while nodes are out
};

} // namespace millrace::memory
