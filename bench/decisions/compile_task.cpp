// One handler on our task: what a user's file costs to compile.
#include <millrace/task.hpp>

#include <cstdint>

millrace::task<std::uint64_t> fetch(std::uint64_t n) { co_return n; }
millrace::task<std::uint64_t> handler(const std::uint64_t& n) { co_return co_await fetch(n); }
