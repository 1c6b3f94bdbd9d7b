#pragma once

#include <millrace/codec/json.hpp>
#include <millrace/outbound.hpp>
#include <millrace/publish_cell.hpp>

#include <memory>
#include <utility>

namespace millrace {

namespace detail {

/// What a publisher's transactions share: one borrowed transaction at a time.
class open_transaction {
 public:
  open_transaction(std::shared_ptr<publish_cell> parent, std::unique_ptr<transaction_port> port, bool borrowed);
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  /// Left without commit or abort: aborted, with a warning.
  ~open_transaction();

  [[nodiscard]] publish_cell& cell() noexcept { return *cell_; }
  task<result<void>> commit();
  task<result<void>> abort();

 private:
  void end() noexcept;
  std::shared_ptr<publish_cell> parent_;
  std::shared_ptr<transaction_port> port_;
  std::shared_ptr<publish_cell> cell_;
  bool borrowed_;
  bool ended_ = false;
};

task<result<std::unique_ptr<open_transaction>>> begin_transaction(std::shared_ptr<publish_cell> cell,
                                                                  transaction_kind kind);

} // namespace detail

/// Messages that become visible together, in order, at `commit`, or not at all. Commit and abort consume it; leaving
/// its scope aborts it, with a warning. Its messages go through the publisher's transforms and the service's layers
/// like any other.
template <class Policy> class transaction {
 public:
  explicit transaction(std::unique_ptr<detail::open_transaction> open) noexcept : open_(std::move(open)) {}

  template <class Codec = json_codec, class T> [[nodiscard]] auto message(const T& value) {
    return detail::start_message<Policy, Codec>(open_->cell(), value);
  }
  template <class Codec = json_codec, class T>
  [[nodiscard]] auto publish(std::string_view destination, const T& value) {
    return message<Codec>(value).to(destination);
  }
  [[nodiscard]] outbound_bytes<Policy> bytes(bytes_view payload) noexcept { return {open_->cell(), payload}; }

  task<result<void>> commit() && { return finish(std::move(open_), true); }
  task<result<void>> abort() && { return finish(std::move(open_), false); }

 private:
  static task<result<void>> finish(std::unique_ptr<detail::open_transaction> open, bool commit) {
    if (commit) {
      auto done = co_await open->commit();
      co_return done;
    }
    auto done = co_await open->abort();
    co_return done;
  }
  std::unique_ptr<detail::open_transaction> open_;
};

/// Begins the one transaction that a publisher can have open; an error while another one is. `auto tx = co_await
/// begin(pub);`
template <class Publisher> task<result<transaction<typename Publisher::policy_type>>> begin(Publisher pub) {
  using policy = typename Publisher::policy_type;
  static_assert(policy::can_transact, "millrace: this policy has no transactions");
  auto open = co_await detail::begin_transaction(pub.cell(), transaction_kind::borrowed);
  if (!open) co_return fail(std::move(open).error());
  co_return transaction<policy>(std::move(*open));
}

/// Begins a transaction of its own buffer; any number may be open at once, and the publisher publishes directly
/// meanwhile.
template <class Publisher> task<result<transaction<typename Publisher::policy_type>>> begin_owned(Publisher pub) {
  using policy = typename Publisher::policy_type;
  static_assert(policy::can_own_transactions,
                "millrace: this policy's broker holds one transaction a publisher: use `begin`");
  auto open = co_await detail::begin_transaction(pub.cell(), transaction_kind::owned);
  if (!open) co_return fail(std::move(open).error());
  co_return transaction<policy>(std::move(*open));
}

} // namespace millrace
