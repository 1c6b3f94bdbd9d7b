#pragma once

#include <millrace/task.hpp>

#include <coroutine>
#include <exception>

namespace millrace::detail {

/// A coroutine that starts at once and belongs to nobody. It must not throw.
struct detached {
  struct promise_type {
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

} // namespace millrace::detail
