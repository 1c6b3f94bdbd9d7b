#pragma once

#include <millrace/millrace.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bench {

[[noreturn]] inline void give_up(const millrace::error& why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.message().c_str());
  std::_Exit(1);
}

inline millrace::running_service started(millrace::service<>& app) {
  auto running = app.start();
  if (!running) give_up(running.error());
  return std::move(*running);
}

} // namespace bench
