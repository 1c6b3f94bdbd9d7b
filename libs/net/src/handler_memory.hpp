#pragma once

#include <cstddef>
#include <new>

namespace millrace::net {

/// Room for one pending Asio handler, so that posting it allocates nothing. One at a time; what does not fit comes from
/// the heap.
class handler_memory {
 public:
  handler_memory() = default;
  handler_memory(const handler_memory&) = delete;
  handler_memory& operator=(const handler_memory&) = delete;
  void* allocate(std::size_t size) {
    if (used_ || size > sizeof room_) return ::operator new(size);
    used_ = true;
    return room_;
  }
  void deallocate(void* at) noexcept {
    if (at == room_)
      used_ = false;
    else
      ::operator delete(at);
  }

 private:
  alignas(std::max_align_t) std::byte room_[256];
  bool used_ = false;
};

template <class T> class handler_allocator {
 public:
  using value_type = T;
  explicit handler_allocator(handler_memory& memory) noexcept : memory_(&memory) {}
  template <class U> handler_allocator(const handler_allocator<U>& other) noexcept : memory_(other.memory_) {}
  T* allocate(std::size_t n) { return static_cast<T*>(memory_->allocate(n * sizeof(T))); }
  void deallocate(T* at, std::size_t) noexcept { memory_->deallocate(at); }
  bool operator==(const handler_allocator&) const noexcept = default;

  handler_memory* memory_;
};

} // namespace millrace::net
