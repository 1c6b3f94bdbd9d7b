#include "support/live_server.hpp"

#include "support/server_tool.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace millrace::amqp::testing {

using test_support::field_of;
using test_support::output_of;
using test_support::server_tool;

std::string at_port(const std::string& url, unsigned short port) {
  return url.substr(0, url.rfind(':') + 1) + std::to_string(port);
}

live_server::live_server(const std::string& name)
    : described_(output_of(server_tool(name) + " --share")), url_(field_of(described_, "url")) {
  const int lock = open(field_of(described_, "lock").c_str(), O_RDWR | O_CLOEXEC); // held until the process ends
  if (lock < 0 || flock(lock, LOCK_SH) != 0) throw std::runtime_error("cannot lock the shared server");
}

unsigned short live_server::port() const { return port_of(url_); }

std::string live_server::word(const std::string& name) const { return field_of(described_, name); }

/// The tool runs a shell that prints the address and lives as long as its input.
own_server::own_server(const std::string& name) : tool_(server_tool(name)) {
  std::string upper = name;
  for (char& c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::string script = "echo \"$MILLRACE_" + upper + "_URL $MILLRACE_" + upper + "_FOLDER\"; cat > /dev/null";
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error("no pipes");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(input[0], 0);
    dup2(output[1], 1);
    execl(tool_.c_str(), tool_.c_str(), "--own", "sh", "-c", script.c_str(), nullptr);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  holder_ = input[1];
  std::string line;
  for (char c; read(output[0], &c, 1) == 1 && c != '\n';)
    line.push_back(c);
  close(output[0]);
  const std::size_t space = line.find(' ');
  if (space == std::string::npos) throw std::runtime_error("the server of its own did not start");
  url_ = line.substr(0, space);
  folder_ = line.substr(space + 1);
}

own_server::~own_server() {
  thaw();
  close(holder_);
  waitpid(pid_, nullptr, 0);
}

void own_server::kill() { (void)output_of(tool_ + " --kill " + folder_); }
void own_server::start() { (void)output_of(tool_ + " --start " + folder_); }

void own_server::signal(int number) {
  std::ifstream file(folder_ + "/pid");
  int pid = 0;
  if (file >> pid) ::kill(pid, number);
}
void own_server::freeze() { signal(SIGSTOP); }
void own_server::thaw() { signal(SIGCONT); }

} // namespace millrace::amqp::testing
