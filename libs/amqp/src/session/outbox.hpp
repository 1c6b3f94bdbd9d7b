#pragma once

#include <millrace/outgoing.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <string>

struct pn_delivery_t;

namespace millrace::amqp::detail {

class sender;

/// A transaction at the peer, as its messages know it.
struct open_work {
  explicit open_work(std::string at_peer) : id(std::move(at_peer)) {}
  const std::string id;
  std::atomic<bool> failed = false; ///< a message of it was not accepted
};

/// One encoded message on its way: in its sender's inbox, waiting for credit, or sent and not settled.
struct out_entry {
  std::string bytes;
  std::shared_ptr<open_work> transaction; ///< null: none
  publish_operation* operation = nullptr;
  time_point due;
  sender* owner = nullptr;
  pn_delivery_t* delivery = nullptr;
  out_entry* next = nullptr;
  out_entry* previous = nullptr;
};

/// Entries in the order of publishing.
class entry_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] out_entry* first() const noexcept { return first_; }
  void push(out_entry& e) noexcept {
    e.next = nullptr;
    e.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &e;
    last_ = &e;
  }
  void remove(out_entry& e) noexcept {
    (e.previous != nullptr ? e.previous->next : first_) = e.next;
    (e.next != nullptr ? e.next->previous : last_) = e.previous;
  }
  [[nodiscard]] out_entry* pop() noexcept {
    out_entry* const e = first_;
    if (e != nullptr) remove(*e);
    return e;
  }
  void append(entry_list& other) noexcept {
    while (out_entry* e = other.pop())
      push(*e);
  }

 private:
  out_entry* first_ = nullptr;
  out_entry* last_ = nullptr;
};

/// Reusable entries; at most `most` are out.
class entry_pool {
 public:
  explicit entry_pool(std::size_t most) noexcept : most_(most) {}
  /// Null: too many are under way.
  [[nodiscard]] out_entry* take() {
    if (out_ == most_) return nullptr;
    if (free_.empty()) free_.push(all_.emplace_back());
    ++out_;
    out_entry* const e = free_.pop();
    e->bytes.clear();
    e->transaction = nullptr;
    e->delivery = nullptr;
    return e;
  }
  void give_back(out_entry& e) noexcept {
    constexpr std::size_t largest_kept = 256UL * 1024;
    if (e.bytes.capacity() > largest_kept) std::string().swap(e.bytes);
    --out_;
    free_.push(e);
  }
  void give_back(entry_list& entries) noexcept {
    while (out_entry* e = entries.pop())
      give_back(*e);
  }

 private:
  std::size_t most_;
  std::size_t out_ = 0;
  std::deque<out_entry> all_;
  entry_list free_;
};

} // namespace millrace::amqp::detail
