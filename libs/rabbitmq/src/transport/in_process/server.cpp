#include "transport/in_process/server.hpp"

#include <utility>

namespace millrace::rabbitmq::detail::in_process {

server::~server() {
  if (alarm_) alarm_->cancel();
}

std::shared_ptr<server> server::at(runtime& rt, const std::string& address) {
  static std::mutex mutex;
  static std::map<std::pair<runtime*, std::string>, std::weak_ptr<server>> all;
  const std::scoped_lock lock(mutex);
  std::erase_if(all, [](const auto& known) { return known.second.expired(); });
  auto& known = all[{&rt, address}];
  if (auto there = known.lock()) return there;
  const auto made = std::make_shared<server>(rt);
  made->watch_clock();
  known = made;
  return made;
}

void server::watch_clock() {
  alarm_ = std::make_shared<alarm>(*runtime_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_clock();
  });
}

vhost& server::find_vhost(const std::string& name) {
  auto& found = vhosts_[name];
  if (!found) found = std::make_unique<vhost>(*runtime_, name);
  return *found;
}

server::id server::connect(std::function<void()> has_output) {
  const std::scoped_lock lock(mutex_);
  const id number = ++last_;
  client& c = clients_[number];
  c.live = std::make_unique<connection>(number, [this](const std::string& name) -> vhost& { return find_vhost(name); });
  c.has_output = std::move(has_output);
  return number;
}

void server::disconnect(id connection) noexcept {
  const std::scoped_lock lock(mutex_);
  if (clients_.erase(connection) == 0) return;
  run_queues();
  finish();
}

void server::receive(id connection, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = clients_.find(connection);
  if (found == clients_.end()) return;
  found->second.live->receive(bytes, [this] { run_queues(); });
  finish();
}

void server::take_output(id connection, std::string& to) {
  const std::scoped_lock lock(mutex_);
  const auto found = clients_.find(connection);
  if (found == clients_.end()) return;
  std::string& out = found->second.live->out();
  to += out;
  out.clear();
}

void server::on_clock() {
  const std::scoped_lock lock(mutex_);
  for (auto& [name, host] : vhosts_)
    host->on_clock();
  finish();
}

void server::run_queues() {
  for (auto& [name, host] : vhosts_)
    host->run();
}

/// With the lock: sets the clock, and tells whom there is something for.
void server::finish() {
  for (auto& [name, host] : vhosts_) {
    if (const auto due = host->next_due()) alarm_->set(*due);
  }
  for (auto& [number, c] : clients_) {
    if (!c.live->out().empty()) c.has_output();
  }
}

} // namespace millrace::rabbitmq::detail::in_process
