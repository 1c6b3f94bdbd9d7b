#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pn_link_t;
struct pn_delivery_t;

namespace millrace::amqp::detail {

/// A message as the broker inside holds it: its header apart, because the delivery count changes.
struct stored_message {
  std::uint64_t sequence = 0;
  std::uint32_t failed_deliveries = 0;
  bool durable = false;
  std::uint8_t priority = 4;
  std::shared_ptr<const std::string> rest; ///< the sections behind the header

  [[nodiscard]] static stored_message read(std::string bytes);
  [[nodiscard]] std::string write() const;
};

class message_queue;

/// A link that messages of a queue leave over.
struct outlet {
  pn_link_t* link = nullptr;
  message_queue* from = nullptr;
  std::unique_ptr<message_queue> own; ///< of a topic's subscription
  struct handed {
    outlet* over;
    stored_message message;
  };
  std::list<handed> unsettled;
};

/// Messages in order, for outlets that take turns.
class message_queue {
 public:
  void add(outlet& o) { outlets_.push_back(&o); }
  void remove(outlet& o);
  [[nodiscard]] bool has_outlets() const noexcept { return !outlets_.empty(); }
  void push(stored_message m) { messages_.push_back(std::move(m)); }
  /// Back to where it was.
  void put_back(stored_message m);
  /// Sends what there is credit for.
  void pump();

 private:
  [[nodiscard]] outlet* next_with_credit();
  static void send(outlet& over, stored_message m);
  std::deque<stored_message> messages_;
  std::vector<outlet*> outlets_;
  std::size_t turn_ = 0;
};

/// All addresses: queues whose readers compete, and topics whose readers get a copy each, both at one address if need
/// be.
class address_book {
 public:
  /// Copies go to all; nobody reads the address: false, and the message is gone.
  bool route(std::string_view address, const stored_message& m);
  outlet& open(pn_link_t* link, const std::string& address, bool topic);
  /// Takes the outlet out; what it had unsettled goes back.
  void close(outlet& o);
  /// The receiver's answer to one message.
  void settle(pn_delivery_t* d);

 private:
  struct node {
    message_queue shared;
    std::vector<outlet*> copies;
  };
  std::map<std::string, node, std::less<>> nodes_;
  std::list<outlet> outlets_;
  std::uint64_t last_sequence_ = 0;
};

} // namespace millrace::amqp::detail
