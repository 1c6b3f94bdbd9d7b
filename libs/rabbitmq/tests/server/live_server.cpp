#include "server/live_server.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

namespace millrace::rabbitmq::testing {
namespace {

std::string tool() {
  const std::filesystem::path here = __FILE__;
  return (here.parent_path() / "../../../../tools/with-rabbitmq").lexically_normal().string();
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  char room[4096];
  while (const std::size_t n = fread(room, 1, sizeof room, pipe))
    text.append(room, n);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + text);
  return text;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Of what erl_call prints: {ok, "text"}.
std::string value_of(const std::string& answer) {
  const std::size_t begin = answer.find('"');
  if (!answer.starts_with("{ok, \"")) throw std::runtime_error("the server answered " + answer);
  return answer.substr(begin + 1, answer.rfind('"') - begin - 1);
}

std::string field_of(const std::string& json, const std::string& name) {
  const std::size_t at = json.find("\"" + name + "\": \"");
  if (at == std::string::npos) throw std::runtime_error("no " + name + " in " + json);
  const std::size_t begin = at + name.size() + 5;
  return json.substr(begin, json.find('"', begin) - begin);
}

} // namespace

void described_server::described(const std::string& json) {
  url_ = field_of(json, "url");
  folder_ = field_of(json, "folder");
  node_ = field_of(json, "node");
  epmd_ = field_of(json, "epmd");
}

std::string described_server::eval(const std::string& expression) const {
  const std::string text = "lists:flatten(io_lib:format(\"~p\", [begin " + expression + " end])).";
  return value_of(output_of("printf '%s\\n' '" + text + "' | ERL_EPMD_PORT=" + epmd_ + " erl_call -h \"t$$\" -sname " +
                            node_ + " -c $(cat " + folder_ + "/.erlang.cookie) -e"));
}

std::string described_server::eval_connection(const std::string& name, const std::string& items,
                                              const std::string& expression) const {
  const std::string text = "{<<\"connection_name\">>,longstr,<<\"" + name + "\">>}";
  return eval("[" + expression +
              " || [{client_properties,P}|Is] <- rabbit_networking:connection_info_all([client_properties," + items +
              "]), is_list(P), lists:member(" + text + ", P)]"); // others may be closing
}

std::string described_server::eval_queue(const std::string& name, const std::string& expression) const {
  return eval("rabbit_amqqueue:with(rabbit_misc:r(<<\"/\">>, queue, <<\"" + name + "\">>), fun(Q) -> " + expression +
              " end)");
}

void described_server::delete_queue(const std::string& name) const {
  (void)eval_queue(name, "rabbit_amqqueue:delete(Q, false, false, <<\"test\">>)");
}

std::string described_server::messages(const std::string& queue) const {
  return eval_queue(queue, "proplists:get_value(messages, rabbit_amqqueue:info(Q, [messages]))");
}

live_server::live_server() {
  if (const char* folder = std::getenv("MILLRACE_RABBITMQ_SHARED"); folder != nullptr) {
    if (hold(text_of(std::string(folder) + "/server.json"))) return;
  }
  if (!hold(output_of(tool() + " --share"))) throw std::runtime_error("cannot lock the shared server");
}

/// Keeps the server until the process ends. False: it is over, or was never there.
bool live_server::hold(const std::string& json) {
  if (json.empty()) return false;
  const int lock = open(field_of(json, "lock").c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0 || flock(lock, LOCK_SH) != 0) return false;
  described(json);
  tls_url_ = field_of(json, "tls_url");
  const std::string pid = text_of(folder() + "/pid");
  return !pid.empty() && std::filesystem::exists("/proc/" + pid.substr(0, pid.find_first_not_of("0123456789")));
}

live_server& live_server::shared() {
  static live_server server;
  return server;
}

std::uint16_t live_server::port() const {
  return static_cast<std::uint16_t>(std::stoi(url().substr(url().rfind(':') + 1)));
}

fragile_server::fragile_server() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  const std::string program = tool();
  tool_ = fork();
  if (tool_ == 0) {
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), "--fragile", nullptr);
    _exit(127);
  }
  close(ends[1]);
  socket_ = ends[0];
  described(line());
}

fragile_server::~fragile_server() {
  close(socket_); // the tool resumes the server and gives it back
  waitpid(tool_, nullptr, 0);
}

std::string fragile_server::line() {
  std::string text;
  for (char c = 0; read(socket_, &c, 1) == 1 && c != '\n';)
    text.push_back(c);
  if (text.empty()) throw std::runtime_error("with-rabbitmq --fragile ended");
  return text;
}

void fragile_server::order(const std::string& what) {
  const std::string text = what + "\n";
  if (write(socket_, text.data(), text.size()) < 0) throw std::runtime_error("with-rabbitmq --fragile is gone");
  (void)line();
}

std::string fresh_name(const std::string& prefix) {
  static std::random_device random;
  return "t." + prefix + "." + std::to_string(random()) + std::to_string(random());
}

waiting_sink::~waiting_sink() { held_.release_all(); }

void waiting_sink::deliver(incoming_batch batch, deliver_from /*where*/) noexcept {
  const std::scoped_lock lock(mutex_);
  held_.append(std::move(batch));
  changed_.notify_all();
}

void waiting_sink::tell(std::string what) {
  const std::scoped_lock lock(mutex_);
  told_.push_back(std::move(what));
  changed_.notify_all();
}

incoming* waiting_sink::next(std::chrono::milliseconds bound) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, bound, [this] { return !held_.empty(); });
  return held_.pop();
}

bool waiting_sink::told(const std::string& beginning, std::chrono::milliseconds bound) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, bound, [&] {
    for (const auto& text : told_)
      if (text.starts_with(beginning)) return true;
    return false;
  });
}

std::string waiting_sink::first_told() {
  const std::scoped_lock lock(mutex_);
  return told_.empty() ? std::string() : told_.front();
}

std::string waiting_sink::last_told() {
  const std::scoped_lock lock(mutex_);
  return told_.empty() ? std::string() : told_.back();
}

namespace {

/// Stops before it goes, so that its sink may go with it.
class stopping : public subscription_port {
 public:
  explicit stopping(std::unique_ptr<subscription_port> port) noexcept : port_(std::move(port)) {}
  ~stopping() override { sync_wait(port_->stop()); }
  task<void> stop() override { return port_->stop(); }
  [[nodiscard]] bool redelivers() const noexcept override { return port_->redelivers(); }

 private:
  std::unique_ptr<subscription_port> port_;
};

} // namespace

open_result client::stopped_at_the_end(open_result opened) {
  if (!opened) return opened;
  return std::make_unique<stopping>(std::move(*opened));
}

client::~client() {
  if (connected_) (void)shutdown();
}

result<closed_broker> client::shutdown() {
  connected_broker closing = std::move(*connected_);
  connected_ = fail(errc::closed, "the test shut it down");
  return sync_wait(std::move(closing).shutdown());
}

result<receipt> client::send(publish_port& to, const std::string& destination, const std::string& text,
                             const header_map* headers, const message_options* options) {
  struct awaiter {
    publish_port& to;
    outgoing message;
    publish_operation op;
    bool await_ready() {
      to.publish(message, op);
      return op.done();
    }
    bool await_suspend(std::coroutine_handle<> waiter) noexcept { return op.wait(waiter); }
    result<receipt> await_resume() noexcept { return op.take(); }
  };
  auto sent = [](publish_port& port, outgoing message, runtime& clock) -> task<result<receipt>> {
    awaiter one{port, message, publish_operation(&clock)};
    auto answer = co_await one;
    co_return answer;
  };
  return sync_wait(sent(to, {destination, as_bytes(text), headers, options}, rt));
}

queue client::temporary(const std::string& name) {
  return queue(name).auto_delete().durable(false).exclusive().with_topology(topology::declare);
}

bool settle(incoming* m, settlement_kind kind, duration delay) {
  if (m == nullptr) return false;
  const bool taken = m->settle({kind, delay}).has_value();
  m->release();
  return taken;
}

} // namespace millrace::rabbitmq::testing
