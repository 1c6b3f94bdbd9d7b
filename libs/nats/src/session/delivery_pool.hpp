#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace millrace::nats::detail {

/// Reusable deliveries of one subscription: in steady state a message allocates nothing. `take` is for the one thread
/// that receives; `give_back` for any. `Node` has a member `Node* free_next`, and `unload()`, which frees its message:
/// the pool does that for many at once. A node that comes back may keep a message of up to `largest_kept` bytes until
/// then; at most `together` of them wait in an idle subscription. The pool outlives
/// its owner until the last node came back, so that a delivery stays valid after its subscription and its connection
/// died.
template <class Node, class Context> class delivery_pool {
 public:
  /// Lets go of the pool: it frees itself with the last node.
  struct abandon {
    void operator()(delivery_pool* pool) const noexcept { pool->orphan(); }
  };
  using owner = std::unique_ptr<delivery_pool, abandon>;
  static constexpr std::size_t together = 64;
  static constexpr std::size_t largest_kept = 4096;

  [[nodiscard]] static owner make(Context context, std::size_t limit) {
    return owner(new delivery_pool(std::move(context), limit));
  }

  /// A node, or null where `limit` are out.
  [[nodiscard]] Node* take() {
    if (local_ == nullptr && nodes_.size() >= std::min(together, limit_)) collect();
    if (Node* node = local_; node != nullptr) {
      local_ = node->free_next;
      return node;
    }
    if (nodes_.size() >= limit_) return nullptr;
    nodes_.push_back(std::make_unique<Node>(*this));
    return nodes_.back().get();
  }

  void give_back(Node& node) noexcept {
    Node* head = returned_.load(std::memory_order_relaxed);
    do {
      if (head == orphaned()) return count_down(1);
      node.free_next = head;
    } while (!returned_.compare_exchange_weak(head, &node, std::memory_order_release, std::memory_order_relaxed));
  }

  [[nodiscard]] Context& context() noexcept { return context_; }

 private:
  void collect() noexcept {
    local_ = returned_.exchange(nullptr, std::memory_order_acquire);
    for (Node* node = local_; node != nullptr; node = node->free_next)
      node->unload();
  }

  delivery_pool(Context context, std::size_t limit) : context_(std::move(context)), limit_(limit) {}

  /// A head that no node has: the owner is gone.
  [[nodiscard]] Node* orphaned() noexcept { return reinterpret_cast<Node*>(this); }

  void orphan() noexcept {
    std::ptrdiff_t here = 0;
    for (const Node* n = returned_.exchange(orphaned(), std::memory_order_acq_rel); n != nullptr; n = n->free_next)
      ++here;
    for (const Node* n = local_; n != nullptr; n = n->free_next)
      ++here;
    count_down(here - static_cast<std::ptrdiff_t>(nodes_.size()));
  }

  /// The sum of "out when orphaned" (negative `n`) and of what came back since reaches zero once, at the end.
  void count_down(std::ptrdiff_t n) noexcept {
    if (out_.fetch_sub(n, std::memory_order_acq_rel) == n) delete this;
  }

  Context context_;
  std::size_t limit_;
  std::vector<std::unique_ptr<Node>> nodes_;
  Node* local_ = nullptr;
  std::atomic<Node*> returned_ = nullptr;
  std::atomic<std::ptrdiff_t> out_ = 0;
};

} // namespace millrace::nats::detail
