#include <millrace/log.hpp>
#include <millrace/transaction.hpp>

#include <utility>

namespace millrace::detail {
namespace {

/// Publishes into the transaction instead of the broker.
class inside_transaction final : public publish_port {
 public:
  explicit inside_transaction(std::shared_ptr<transaction_port> to) noexcept : to_(std::move(to)) {}
  void publish(const outgoing& message, publish_operation& op) noexcept override { to_->publish(message, op); }

 private:
  std::shared_ptr<transaction_port> to_;
};

} // namespace

open_transaction::open_transaction(std::shared_ptr<publish_cell> parent, std::unique_ptr<transaction_port> port,
                                   bool borrowed)
    : parent_(std::move(parent)), port_(std::move(port)), cell_(parent_->copy()), borrowed_(borrowed) {
  cell_->port = std::make_shared<inside_transaction>(port_);
  cell_->live.store(cell_->port.get(), std::memory_order_release);
}

open_transaction::~open_transaction() {
  if (!ended_)
    log(log_level::warning,
        "a transaction on '" + parent_->broker + "' was left without commit or abort: it is aborted");
  end();
}

void open_transaction::end() noexcept {
  if (std::exchange(ended_, true)) return;
  port_->abandon();
  if (borrowed_) parent_->in_transaction.store(false);
}

task<result<void>> open_transaction::commit() {
  auto done = co_await port_->commit();
  end();
  co_return done;
}

task<result<void>> open_transaction::abort() {
  auto done = co_await port_->abort();
  end();
  co_return done;
}

task<result<std::unique_ptr<open_transaction>>> begin_transaction(std::shared_ptr<publish_cell> cell,
                                                                  transaction_kind kind) {
  publish_port* to = cell->live.load(std::memory_order_acquire);
  if (to == nullptr) co_return fail(errc::not_connected, "begin a transaction");
  const bool borrowed = kind == transaction_kind::borrowed;
  if (borrowed && cell->in_transaction.exchange(true)) {
    co_return fail(errc::invalid_options, "begin a transaction: this publisher has one open");
  }
  auto begun = co_await to->begin(kind);
  if (!begun) {
    if (borrowed) cell->in_transaction.store(false);
    co_return fail(std::move(begun).error());
  }
  co_return std::make_unique<open_transaction>(std::move(cell), std::move(*begun), borrowed);
}

} // namespace millrace::detail
