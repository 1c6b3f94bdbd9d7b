// What a user's first file does: include, link, run.
#include <millrace/error.hpp>

#include <cstdio>

int main() {
  const millrace::error closed(millrace::errc::closed, "orders");
  std::puts(closed.message().c_str());
  return closed == millrace::errc::closed ? 0 : 1;
}
