#pragma once

namespace millrace::detail {

/// Objects that are used again and again, kept by the thread that gave them back: no lock, and no allocation once it is
/// warm. `Node` has a member `Node* next` and is default-constructible; whoever gives one back has emptied it.
template <class Node, unsigned Most = 16> class thread_cache {
 public:
  [[nodiscard]] static Node* take() {
    list& mine = here;
    if (mine.first == nullptr) return new Node;
    Node* node = mine.first;
    mine.first = node->next;
    --mine.count;
    return node;
  }
  static void give_back(Node* node) noexcept {
    list& mine = here;
    if (mine.count >= Most || (!mine.swept && !arrange_sweep())) {
      delete node;
      return;
    }
    node->next = mine.first;
    mine.first = node;
    ++mine.count;
  }

 private:
  struct list {
    Node* first = nullptr;
    unsigned count = 0;
    bool swept = false; ///< the thread's end frees what is kept
  };
  struct sweeper {
    sweeper() noexcept { here.swept = true; }
    ~sweeper() {
      while (Node* node = here.first) {
        here.first = node->next;
        delete node;
      }
      here.count = Most; // what is given back after this is not kept
    }
  };
  [[gnu::noinline]] static bool arrange_sweep() noexcept {
    static thread_local const sweeper at_exit;
    static_cast<void>(at_exit);
    return here.swept;
  }

  static inline constinit thread_local list here{};
};

} // namespace millrace::detail
