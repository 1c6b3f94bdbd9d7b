// What ThreadSanitizer has to know of gRPC, which is not instrumented: its locks, by which an operation that one thread
// starts reaches its reaction on another, are invisible, so that everything on both sides would look like a race. Here
// every start of a call's operation is seen to come before its reaction. Linked into each program of a build with
// ThreadSanitizer that links Pub/Sub; all of these use the callback API, where a tag is a functor.
#include <grpc/grpc.h>

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstddef>
#include <memory>

namespace {

/// Takes the place of an operation's reaction.
class seen_reaction final : public grpc_completion_queue_functor {
 public:
  explicit seen_reaction(grpc_completion_queue_functor& to) : grpc_completion_queue_functor(to), to_(to) {
    functor_run = run;
  }

 private:
  static void run(grpc_completion_queue_functor* self, int ok) {
    const std::unique_ptr<seen_reaction> seen(static_cast<seen_reaction*>(self));
    __tsan_acquire(self);
    seen->to_.functor_run(&seen->to_, ok);
  }
  grpc_completion_queue_functor& to_;
};

} // namespace

/// Found before gRPC's own, by gRPC's C++ library too.
extern "C" grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, std::size_t count, void* tag,
                                                 void* reserved) {
  static auto* const start =
      reinterpret_cast<decltype(&grpc_call_start_batch)>(dlsym(RTLD_NEXT, "grpc_call_start_batch"));
  auto reaction = std::make_unique<seen_reaction>(*static_cast<grpc_completion_queue_functor*>(tag));
  __tsan_release(reaction.get());
  const grpc_call_error refused = start(call, ops, count, reaction.get(), reserved);
  if (refused == GRPC_CALL_OK) (void)reaction.release(); // frees itself
  return refused;
}

/// What libc's functions (memcpy, free) read and write is not looked at: for gRPC and OpenSSL most of the time, which
/// hand that on by locks that are invisible too. TSan has the option for all callers or for none.
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; } // NOLINT: TSan's name
