#pragma once

#include "claimed_port.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace millrace::nats::test {

/// A real nats-server on a free loopback port, with its own directory for configuration, log and streams. The
/// destructor kills it (its own process only) and removes the directory. `kill`, `stop`, `suspend` and `start` again
/// are the faults.
class nats_server {
 public:
  /// `extra` is appended to the configuration; "{dir}" in it becomes the directory. JetStream is on.
  explicit nats_server(std::string extra = {}, bool jetstream = true) {
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace-nats-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    directory_ = pattern;
    configure(std::move(extra), jetstream);
    start();
  }
  nats_server(const nats_server&) = delete;
  nats_server& operator=(const nats_server&) = delete;
  ~nats_server() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  void configure(std::string extra, bool jetstream = true) {
    for (std::size_t at = 0; (at = extra.find("{dir}", at)) != std::string::npos;)
      extra.replace(at, 5, directory_.string());
    std::ofstream out(configuration());
    out << "listen: 127.0.0.1:" << port() << "\nserver_name: test" << port() << "\nlame_duck_duration: 30s\n"
        << "lame_duck_grace_period: 1s\nlogfile: \"" << (directory_ / "log").string() << "\"\n";
    if (jetstream) out << "jetstream { store_dir: \"" << (directory_ / "js").string() << "\", max_mem: 256MB }\n";
    out << extra << '\n';
  }

  /// Starts it (again, on the same port and data) and waits until it answers.
  void start() {
    if (pid_ > 0) return;
    const std::string program = server_program();
    const std::string file = configuration().string();
    pid_ = fork();
    if (pid_ == 0) {
      const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      dup2(null, 0);
      dup2(null, 1);
      dup2(null, 2);
      execl(program.c_str(), program.c_str(), "-c", file.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    if (!answers_within(std::chrono::seconds(10))) throw std::runtime_error("nats-server did not start; see " + file);
  }

  void kill() { end(SIGKILL); }
  /// Orderly; takes about a second with clients.
  void stop() { end(SIGTERM); }
  void restart() {
    kill();
    start();
  }
  /// Connections stay open and nothing answers.
  void suspend() const {
    ::kill(pid_, SIGSTOP);
    while (state() != 'T')
      std::this_thread::sleep_for(std::chrono::milliseconds(1)); // lint: allow sleep
  }
  void resume() const { ::kill(pid_, SIGCONT); }
  /// Cuts its clients off one after another.
  void lame_duck() const { ::kill(pid_, SIGUSR2); }
  void reload() const { ::kill(pid_, SIGHUP); }

  [[nodiscard]] std::string url() const { return "nats://" + host_port(); }
  [[nodiscard]] std::string host_port() const { return "127.0.0.1:" + std::to_string(port()); }
  [[nodiscard]] int port() const noexcept { return port_.number(); }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

 private:
  [[nodiscard]] static std::string server_program() {
    const char* named = std::getenv("MILLRACE_NATS_SERVER");
    return named != nullptr ? named : "/usr/sbin/nats-server";
  }
  [[nodiscard]] std::filesystem::path configuration() const { return directory_ / "nats.conf"; }

  [[nodiscard]] static sockaddr_in loopback(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }

  [[nodiscard]] bool answers_within(std::chrono::milliseconds bound) const {
    const auto until = std::chrono::steady_clock::now() + bound;
    while (std::chrono::steady_clock::now() < until) {
      if (answers()) return true;
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5)); // lint: allow sleep
    }
    return false;
  }

  /// It greets with INFO.
  [[nodiscard]] bool answers() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const sockaddr_in at = loopback(port());
    char greeting[4] = {};
    const bool ok = ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
                    recv(fd, greeting, sizeof greeting, MSG_WAITALL) == sizeof greeting &&
                    std::string_view(greeting, 4) == "INFO";
    ::close(fd);
    return ok;
  }

  /// As the kernel tells it: T is stopped.
  [[nodiscard]] char state() const {
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t name_end = text.rfind(')');
    return name_end == std::string::npos ? 'T' : text[name_end + 2];
  }

  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGCONT);
    ::kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  claimed_port port_;
  pid_t pid_ = -1;
  std::filesystem::path directory_;
};

} // namespace millrace::nats::test
