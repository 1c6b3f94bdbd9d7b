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
  task<bool> apply(incoming& m, context& ctx, settlement wanted);

 private:
  [[nodiscard]] bool spent(incoming& m, context& ctx) const;
  [[nodiscard]] std::string_view copy_address() const noexcept;
  task<bool> bury(incoming& m, context& ctx, settlement wanted);
  task<bool> retry_now(incoming& m, context& ctx);
  task<bool> retry_later(incoming& m, context& ctx, duration delay);
  [[nodiscard]] bool settle_plainly(incoming& m, settlement how) const;
  task<result<void>> publish_copy(std::string_view destination, bytes_view payload, const header_map& headers) const;
  task<void> copy_later(std::string payload, header_map headers, duration delay);
  [[nodiscard]] header_map counted_headers(incoming& m, const context& ctx) const;
  void report(std::string_view what) const;

  detail::subscription_plan* plan_;
  runtime* runtime_;
  task_group* background_;
};

} // namespace millrace
