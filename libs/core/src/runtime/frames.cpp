#include <millrace/task.hpp>

#include <array>
#include <new>

namespace millrace::detail {
namespace {

constexpr std::size_t granule = 64;
constexpr std::size_t classes = 64;       // frames up to 4 KiB are recycled
constexpr std::size_t kept_a_class = 128; // what one thread keeps of a size

struct free_node {
  free_node* next;
};

class frame_cache {
 public:
  frame_cache() = default;
  frame_cache(const frame_cache&) = delete;
  frame_cache& operator=(const frame_cache&) = delete;
  ~frame_cache() {
    for (auto& list : lists_) {
      while (free_node* node = list.first) {
        list.first = node->next;
        ::operator delete(node);
      }
      list.count = kept_a_class; // a frame freed after this thread's cache is gone is not kept
    }
  }

  void* take(std::size_t index) noexcept {
    auto& list = lists_[index];
    free_node* node = list.first;
    if (node == nullptr) return nullptr;
    list.first = node->next;
    --list.count;
    return node;
  }

  bool keep(std::size_t index, void* frame) noexcept {
    auto& list = lists_[index];
    if (list.count >= kept_a_class) return false;
    auto* node = static_cast<free_node*>(frame);
    node->next = list.first;
    list.first = node;
    ++list.count;
    return true;
  }

 private:
  struct list {
    free_node* first = nullptr;
    std::size_t count = 0;
  };
  std::array<list, classes> lists_{};
};

thread_local frame_cache cache;

std::size_t class_of(std::size_t size) noexcept { return (size - 1) / granule; }

} // namespace

void* allocate_frame(std::size_t size) {
  const std::size_t index = class_of(size);
  if (index >= classes) return ::operator new(size);
  if (void* frame = cache.take(index)) return frame;
  return ::operator new((index + 1) * granule);
}

void free_frame(void* frame, std::size_t size) noexcept {
  const std::size_t index = class_of(size);
  if (index < classes && cache.keep(index, frame)) return;
  ::operator delete(frame);
}

} // namespace millrace::detail
