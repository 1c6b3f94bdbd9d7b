#pragma once

#include "session/engine.hpp"
#include "transport/in_process/memory_transport.hpp"
#include "transport/in_process/queues.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::amqp::detail {

/// A broker inside this process, for one connection: Proton's engine as a server over `address_book`. Bytes in, bytes
/// out.
class local_broker final : public memory_peer {
 public:
  local_broker();
  void input(std::string_view bytes) override;
  void output(std::string& to) override;

 private:
  void dispatch();
  void on_event(pn_event_t* e);
  void open_link(pn_link_t* link);
  void open_outlet(pn_link_t* link);
  void close_link(pn_link_t* link);
  void close_session(pn_session_t* session);
  void on_delivery(pn_delivery_t* d);
  void on_message(pn_link_t* link, pn_delivery_t* d, std::string bytes);
  void on_control(pn_delivery_t* d, std::string_view body);
  void discharge(pn_delivery_t* d, std::string_view id, bool commit);
  static void refuse(pn_delivery_t* d, const char* condition, const char* text);

  struct posted {
    std::string address;
    stored_message message;
  };
  engine engine_;
  address_book book_;
  std::map<std::string, std::vector<posted>, std::less<>> transactions_;
  std::uint64_t last_name_ = 0;
};

} // namespace millrace::amqp::detail
