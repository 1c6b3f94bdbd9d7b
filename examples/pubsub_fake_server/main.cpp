// The fake Pub/Sub server as a program: it runs a command that finds the server in PUBSUB_EMULATOR_HOST, and ends with
// the command's exit code. Any client in any language can talk to it. Without a command it says where it is, and ends.
//
//   example_pubsub_fake_server COMMAND [ARGUMENT...]
#include <millrace/testing/pubsub.hpp>

#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <iostream>

extern char** environ; // NOLINT: POSIX declares it nowhere

int main(int argc, char** argv) {
  const millrace::testing::fake_pubsub server;
  if (argc < 2) {
    std::cout << "a Pub/Sub server was at " << server.address() << '\n';
    return 0;
  }
  setenv("PUBSUB_EMULATOR_HOST", server.address().c_str(), 1);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[1], nullptr, nullptr, argv + 1, environ) != 0) {
    std::cerr << "cannot run " << argv[1] << '\n';
    return 127;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
