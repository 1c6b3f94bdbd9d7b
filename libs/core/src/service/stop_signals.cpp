#include "service/stop_signals.hpp"

#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <sys/eventfd.h>
#include <unistd.h>

namespace millrace {
namespace {

std::atomic<int> signal_wake_fd{-1};
std::atomic<int> signal_count{0};
std::atomic<int> signal_last{0};

void write_one(int fd) noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one); // a full counter wakes the reader as well
}

extern "C" void on_stop_signal(int number) {
  signal_last.store(number);
  signal_count.fetch_add(1);
  const int fd = signal_wake_fd.load();
  if (fd >= 0) write_one(fd);
}

} // namespace

struct stop_signals::handlers {
  struct sigaction interrupt;
  struct sigaction terminate;
};

stop_signals::stop_signals() : wake_fd_(::eventfd(0, EFD_CLOEXEC)), old_(new handlers{}) {
  if (wake_fd_ < 0) throw std::runtime_error("eventfd: no file descriptor");
  signal_count = 0;
  signal_wake_fd = wake_fd_;
  struct sigaction action{};
  action.sa_handler = on_stop_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_->interrupt);
  sigaction(SIGTERM, &action, &old_->terminate);
}

stop_signals::~stop_signals() {
  sigaction(SIGINT, &old_->interrupt, nullptr);
  sigaction(SIGTERM, &old_->terminate, nullptr);
  signal_wake_fd = -1;
  ::close(wake_fd_);
  delete old_;
}

void stop_signals::wait() const noexcept {
  std::uint64_t count = 0;
  while (::read(wake_fd_, &count, sizeof count) < 0) {
  }
}

void stop_signals::notify() const noexcept { write_one(wake_fd_); }
int stop_signals::count() const noexcept { return signal_count.load(); }
int stop_signals::last() const noexcept { return signal_last.load(); }

} // namespace millrace
