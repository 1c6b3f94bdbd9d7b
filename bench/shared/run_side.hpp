#pragma once

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

namespace bench {

/// What a run is told on its command line.
struct run_options {
  std::string url; ///< or another address
  std::size_t messages = 0;
  unsigned threads = 0;
};

/// "SIDE CASE", and what runs it and answers an exit code.
using sides = std::map<std::string_view, std::function<int(const run_options&)>>;

/// One run of one side, for tools/bench: `SIDE CASE URL MESSAGES [THREADS]`.
inline int run_side(int argc, char** argv, const sides& runs) {
  const auto chosen = argc >= 5 ? runs.find(std::string(argv[1]) + ' ' + argv[2]) : runs.end();
  if (chosen == runs.end()) {
    std::cerr << program_invocation_short_name << " SIDE CASE URL MESSAGES [THREADS], of these:\n";
    for (const auto& [name, run] : runs)
      std::cerr << "  " << name << '\n';
    return 2;
  }
  run_options options;
  options.url = argv[3];
  options.messages = std::strtoul(argv[4], nullptr, 10);
  if (argc > 5) options.threads = static_cast<unsigned>(std::strtoul(argv[5], nullptr, 10));
  return chosen->second(options);
}

} // namespace bench
