#pragma once

#include <millrace/context.hpp>
#include <millrace/event.hpp>
#include <millrace/registration.hpp>

namespace millrace {

/// The retry rules of one subscription (core 2.11): who delays, who counts, what becomes of a message that used its
/// attempts up. Nothing is settled before the copy that replaces it was accepted, except a delayed copy, which is at
/// most once.
class redelivery {
 public:
  redelivery(detail::subscription_plan& plan, runtime& rt, task_group& background) noexcept
      : plan_(&plan), runtime_(&rt), background_(&background) {}

  /// Settles `m` as `wanted`, by the rules; false: the settlement failed, and the message is still the broker's.
  task<bool> apply(incoming& m, settlement wanted, std::string_view why = {});
  /// Hands a settlement over as it is. A transport without settlements is not a failure.
  bool settle_plainly(incoming& m, settlement how) const;

 private:
  [[nodiscard]] bool not_settled(const error& why) const;
  [[nodiscard]] bool spent(incoming& m) const;
  [[nodiscard]] std::string_view copy_address() const noexcept;
  task<bool> bury(incoming& m, settlement wanted, std::string_view why);
  void explain(incoming& m, header_map& headers, std::string_view why) const;
  task<bool> retry_now(incoming& m);
  task<bool> retry_later(incoming& m, duration delay);
  task<result<void>> publish_copy(std::string_view destination, bytes_view payload, const header_map& headers) const;
  task<void> copy_later(std::string payload, header_map headers, duration delay);
  [[nodiscard]] header_map counted_headers(incoming& m) const;
  void report(std::string_view what) const;

  detail::subscription_plan* plan_;
  runtime* runtime_;
  task_group* background_;
};

} // namespace millrace
