#include "server/live_server.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace millrace::rabbitmq::testing {
namespace {

using test_support::field_of;
using test_support::output_of;
using test_support::server_tool;

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
  if (!hold(output_of(server_tool("rabbitmq") + " --share"))) throw std::runtime_error("cannot lock the shared server");
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

std::uint16_t live_server::port() const { return test_support::port_of(url()); }

fragile_server::fragile_server() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  const std::string program = server_tool("rabbitmq");
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

queue client::temporary(const std::string& name) {
  return queue(name).auto_delete().durable(false).exclusive().with_topology(topology::declare);
}

} // namespace millrace::rabbitmq::testing
