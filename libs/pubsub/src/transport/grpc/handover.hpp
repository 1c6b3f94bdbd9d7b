#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MILLRACE_PUBSUB_TSAN // NOLINT: a condition of this file
#endif
#elif defined(__SANITIZE_THREAD__)
#define MILLRACE_PUBSUB_TSAN // NOLINT
#endif
#ifdef MILLRACE_PUBSUB_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace millrace::pubsub::detail {

/// An object that gRPC carries to another thread, in an order that its own locks keep: what was done before
/// `handed_over` is before what comes after `taken_over`. This is for ThreadSanitizer, which cannot see these locks,
/// and nothing without it.
inline void handed_over([[maybe_unused]] void* what) noexcept {
#ifdef MILLRACE_PUBSUB_TSAN
  __tsan_release(what);
#endif
}
inline void taken_over([[maybe_unused]] void* what) noexcept {
#ifdef MILLRACE_PUBSUB_TSAN
  __tsan_acquire(what);
#endif
}

} // namespace millrace::pubsub::detail
