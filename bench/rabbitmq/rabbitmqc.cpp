#include "rabbitmqc.hpp"

#include <amqp_tcp_socket.h>

#include <cstdio>
#include <cstdlib>

namespace bench {
namespace {

constexpr int frame_max = 131'072;

[[noreturn]] void give_up(const char* what, const char* why) {
  std::fprintf(stderr, "bench_rabbitmq: %s: %s\n", what, why);
  std::_Exit(1);
}

} // namespace

void check(int status, const char* what) {
  if (status < 0) [[unlikely]]
    give_up(what, amqp_error_string2(status));
}

void check(const amqp_rpc_reply_t& reply, const char* what) {
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) [[likely]]
    return;
  give_up(what, reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION ? amqp_error_string2(reply.library_error)
                                                                    : "refused by the server");
}

connection::connection(const std::string& url) : state_(amqp_new_connection()) {
  std::string text = url;
  amqp_connection_info to;
  amqp_default_connection_info(&to);
  check(amqp_parse_url(text.data(), &to), "the URL");
  amqp_socket_t* const socket = amqp_tcp_socket_new(state_);
  check(amqp_socket_open(socket, to.host, to.port), "connect");
  check(amqp_login(state_, to.vhost, 0, frame_max, 0, AMQP_SASL_METHOD_PLAIN, to.user, to.password), "login");
  amqp_channel_open(state_, 1);
  check(amqp_get_rpc_reply(state_), "channel");
}

void connection::close() {
  if (state_ == nullptr) return;
  check(amqp_connection_close(state_, AMQP_REPLY_SUCCESS), "close");
  amqp_destroy_connection(state_);
  state_ = nullptr;
}

} // namespace bench
