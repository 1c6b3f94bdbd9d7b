#pragma once

#include <millrace/context.hpp>
#include <millrace/outcome.hpp>
#include <millrace/task.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace millrace {

/// Sees every message of the handlers it wraps, before and after, without suspending: a few instructions each. Shared
/// by all workers, so it must be thread-safe. For a batch handler it sees the batch once, through the context of its
/// first element.
class interceptor {
 public:
  interceptor() = default;
  interceptor(const interceptor&) = default;
  interceptor& operator=(const interceptor&) = default;
  virtual ~interceptor() = default;

  /// An outcome settles the message at once: what is further in, and the handler, are not called.
  virtual std::optional<outcome> before(context& /*ctx*/) { return std::nullopt; }
  /// The handler's outcome, or what stopped it; it may be replaced.
  virtual void after(context& /*ctx*/, outcome& /*answer*/) {}
  /// Instead of `after`: the handler threw, or the payload did not decode. The registration's policy settles the
  /// message.
  virtual void failed(context& /*ctx*/, std::string_view /*what*/) {}
};

/// The rest of a chain: what is further in, and the handler. Called once at most.
class next_handler {
 public:
  class source {
   public:
    virtual task<outcome> call(std::size_t position) = 0;

   protected:
    ~source() = default;
  };
  next_handler(source& chain, std::size_t position) noexcept : chain_(&chain), position_(position) {}
  /// Throws what the handler throws.
  [[nodiscard]] task<outcome> operator()() const { return chain_->call(position_); }

 private:
  source* chain_;
  std::size_t position_;
};

/// Wraps handlers with a coroutine: it may wait, call `next` or answer by itself, and change the answer. Shared by all
/// workers, so it must be thread-safe.
class middleware {
 public:
  middleware() = default;
  middleware(const middleware&) = default;
  middleware& operator=(const middleware&) = default;
  virtual ~middleware() = default;
  virtual task<outcome> around(context& ctx, next_handler next) = 0;
  /// Why it must not wrap a batch handler, for the error that refuses the start; empty: it may.
  [[nodiscard]] virtual std::string_view refuses_batches() const noexcept { return {}; }
};

/// Several interceptors as one, called without dynamic dispatch: `static_chain(tracing{}, counting{})`. The first is
/// outermost.
template <std::derived_from<interceptor>... Parts> class static_chain final : public interceptor {
 public:
  explicit static_chain(Parts... parts) : parts_(std::move(parts)...) {}

  std::optional<outcome> before(context& ctx) override { return before_from<0>(ctx); }
  void after(context& ctx, outcome& answer) override {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::get<sizeof...(Parts) - 1 - I>(parts_).part_type<sizeof...(Parts) - 1 - I>::after(ctx, answer), ...);
    }(std::index_sequence_for<Parts...>());
  }
  void failed(context& ctx, std::string_view what) override {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::get<sizeof...(Parts) - 1 - I>(parts_).part_type<sizeof...(Parts) - 1 - I>::failed(ctx, what), ...);
    }(std::index_sequence_for<Parts...>());
  }

 private:
  template <std::size_t I> using part_type = std::tuple_element_t<I, std::tuple<Parts...>>;
  template <std::size_t I> std::optional<outcome> before_from(context& ctx) {
    if constexpr (I == sizeof...(Parts)) {
      return std::nullopt;
    } else {
      auto& part = std::get<I>(parts_);
      std::optional<outcome> stop = part.part_type<I>::before(ctx);
      if (!stop) stop = before_from<I + 1>(ctx);
      return stop;
    }
  }
  std::tuple<Parts...> parts_;
};

namespace detail {

/// One member of a chain: either kind.
struct consume_link {
  std::shared_ptr<interceptor> plain;
  std::shared_ptr<middleware> suspending;
};
using consume_links = std::vector<consume_link>;

template <class M> consume_link make_link(M part) {
  static_assert(std::derived_from<M, interceptor> || std::derived_from<M, middleware>,
                "millrace: middleware derives from `millrace::interceptor` or `millrace::middleware`");
  if constexpr (std::derived_from<M, interceptor>)
    return {std::make_shared<M>(std::move(part)), nullptr};
  else
    return {nullptr, std::make_shared<M>(std::move(part))};
}

} // namespace detail
} // namespace millrace
