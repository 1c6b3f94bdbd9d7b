#pragma once

#include "session/alarm.hpp"
#include "transport/transport.hpp"

#include <millrace/confirmation.hpp>
#include <millrace/event.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::pubsub::detail {

class connection;

/// Who waits to hear whether a settlement was taken; null: nobody.
using told_later = std::shared_ptr<confirmation>;

/// Gathers acknowledgements and deadline changes of one subscription into requests of legal size, and sends them: at
/// once when much is waiting, and after the settle delay at the latest. What fails for a passing reason is sent again;
/// of an exactly-once subscription only the ids that are said to be worth it.
class settlements : public std::enable_shared_from_this<settlements> {
 public:
  /// Is told how many acknowledgements were refused for good, and why; false: there is nobody to tell.
  using on_refused = std::function<bool(std::uint64_t count, const error& why)>;
  /// `window`: how many deliveries may be unsettled, so that acknowledgements do not wait for those that cannot come.
  settlements(std::shared_ptr<connection> shared, const std::string& full_name, std::int64_t window);
  /// Before the first acknowledgement.
  void tell(on_refused whom) { tell_refused_ = std::move(whom); }

  void acknowledge(std::string_view ack_id, told_later told = nullptr);
  /// 0: the message comes back at once.
  void modify(std::string_view ack_id, std::uint32_t seconds, told_later told = nullptr);
  /// What was gathered goes out now.
  void send_now();

  [[nodiscard]] task<bool> drain(time_point due);
  void close() noexcept;

 private:
  struct awaited_id {
    std::string ack_id;
    told_later told;
  };
  /// Ids on their way into one request.
  struct gathering {
    std::string body;
    std::size_t count = 0;
    std::vector<awaited_id> awaited;
  };
  struct request {
    method which = method::acknowledge;
    std::shared_ptr<const std::string> body;
    std::size_t ids = 0;
    std::vector<awaited_id> awaited;
    unsigned failures = 0;
    time_point due{}; ///< not before
  };
  using lock = std::unique_lock<std::mutex>;

  void add(gathering& to, std::uint32_t seconds, method which, std::string_view ack_id, told_later told);
  void seal(gathering& from, method which);
  void seal_all();
  void send_waiting(lock& held);
  void send(request r);
  void answered(request r, const call_answer& answer);
  /// Of a request that failed: how many of its ids are refused for good; the others, if any, are to be sent again.
  [[nodiscard]] std::size_t take_refused(request& r, const call_status& status);
  void tell_awaited(request& r, const refused_ids& said, const call_status& status) const;
  void not_sent(const told_later& told) const;
  void report(const request& r, std::size_t refused, const call_status& status) const;
  void tick() noexcept;
  void tell_if_idle();

  const std::shared_ptr<connection> shared_;
  const std::string name_;
  const std::string routing_;
  const std::size_t enough_;
  const bool at_once_; ///< in process nothing is gathered
  on_refused tell_refused_;

  std::mutex mutex_;
  gathering acks_;
  std::map<std::uint32_t, gathering> changes_; ///< by seconds
  std::deque<request> waiting_;
  std::size_t in_flight_ = 0;
  bool closed_ = false;
  event idle_;
  alarm alarm_;
};

} // namespace millrace::pubsub::detail
