#pragma once

#include <fstream>
#include <unistd.h>

namespace millrace::test_support {

/// Memory of this process.
inline long resident_kib() {
  std::ifstream of("/proc/self/statm");
  long total = 0;
  long pages = 0;
  of >> total >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

} // namespace millrace::test_support
