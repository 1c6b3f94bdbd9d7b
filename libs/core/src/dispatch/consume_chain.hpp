#pragma once

#include <millrace/middleware.hpp>

#include <vector>

namespace millrace {

/// The middleware of one registration, outermost first. Immutable once the service starts; shared by its workers.
class consume_chain {
 public:
  explicit consume_chain(detail::consume_links links);

  [[nodiscard]] bool empty() const noexcept { return links_.empty(); }
  /// Some member is a coroutine.
  [[nodiscard]] bool suspends() const noexcept { return suspends_; }
  [[nodiscard]] const detail::consume_links& links() const noexcept { return links_; }

  /// Of a chain that does not suspend: its members, outermost first.
  struct interceptors {
    interceptor* const* first;
    interceptor* const* last;
  };
  [[nodiscard]] interceptors plain() const noexcept { return {plain_.data(), plain_.data() + plain_.size()}; }

  /// Outwards, for the members whose `before` went through.
  static void after(context& ctx, outcome& answer, interceptors ran) {
    while (ran.last != ran.first)
      (*--ran.last)->after(ctx, answer);
  }
  static void failed(context& ctx, std::string_view what, interceptors ran) noexcept;

 private:
  detail::consume_links links_;
  std::vector<interceptor*> plain_;
  bool suspends_ = false;
};

/// Runs a chain that suspends around one call.
class chain_run final : public next_handler::source {
 public:
  /// The call in the middle; throws what the handler throws.
  class core {
   public:
    virtual task<outcome> invoke() = 0;

   protected:
    ~core() = default;
  };
  chain_run(const consume_chain& chain, core& middle) noexcept : chain_(&chain), middle_(&middle) {}
  void attach(context& ctx) noexcept { ctx_ = &ctx; }
  task<outcome> call(std::size_t position) override;

 private:
  task<outcome> intercept(interceptor& part, std::size_t position);
  const consume_chain* chain_;
  core* middle_;
  context* ctx_ = nullptr;
};

} // namespace millrace
