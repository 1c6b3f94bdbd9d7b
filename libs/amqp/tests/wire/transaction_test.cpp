// Transactions against a scripted coordinator: what links and connections do to them.
#include "wire/rig.hpp"

#include <proton/codec.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/terminus.h>

#include <algorithm>

namespace millrace::amqp::testing {
namespace {

constexpr std::uint64_t declared = 0x33;

bool is_coordinator(pn_link_t* link) { return pn_terminus_get_type(pn_link_remote_target(link)) == PN_COORDINATOR; }

/// A peer that declares transactions, and accepts everything else.
struct transacting_rig : rig {
  transacting_rig() {
    script.on_transfer = [this](pn_delivery_t* d) { answer(d); };
  }
  void answer(pn_delivery_t* d) {
    const bool declares = is_coordinator(pn_delivery_link(d)) && peer->messages.back()[5] == 0x31;
    if (declares) {
      const std::string id = "tx-" + std::to_string(++transactions);
      pn_data_t* const state = pn_disposition_data(pn_delivery_local(d));
      pn_data_put_list(state);
      pn_data_enter(state);
      pn_data_put_binary(state, pn_bytes(id.size(), id.data()));
      pn_data_exit(state);
    }
    pn_delivery_update(d, declares ? declared : PN_ACCEPTED);
    pn_delivery_settle(d);
  }
  /// A transaction with one message in it.
  std::unique_ptr<transaction_port> begin() {
    auto tx = rt.drive(publisher->begin(transaction_kind::borrowed));
    EXPECT_TRUE(tx) << tx.error().message();
    if (!tx) return nullptr;
    publish_operation op(&rt);
    (*tx)->publish({"out", as_bytes("x"), nullptr, nullptr}, op);
    run();
    EXPECT_TRUE(op.done() && op.take());
    return std::move(*tx);
  }
  void connect_and_pair() {
    ASSERT_TRUE(connect());
    publisher = *connected_broker(connection).pair(transactional_publish());
  }
  int transactions = 0;
  std::shared_ptr<publish_port> publisher;
};

/// Scenario 26: what the peer says of settle modes is its own affair.
TEST(amqp_transaction, a_coordinator_that_answers_with_other_settle_modes_is_one) {
  for (const pn_snd_settle_mode_t mode : {PN_SND_UNSETTLED, PN_SND_SETTLED, PN_SND_MIXED}) {
    transacting_rig r;
    r.script.on_attach = [&](pn_link_t* link) {
      pn_link_set_snd_settle_mode(link, mode);
      pn_link_set_rcv_settle_mode(link, PN_RCV_SECOND);
      r.peer->accept(link);
    };
    r.connect_and_pair();
    const auto tx = r.begin();
    ASSERT_TRUE(tx);
    EXPECT_TRUE(r.rt.drive(tx->commit()));
  }
}

/// Scenario 27: the peer rolls back what it had of the transaction, and the commit says so; the next one is a new one.
TEST(amqp_transaction, a_lost_connection_rolls_back) {
  transacting_rig r;
  r.connect_and_pair();
  const auto tx = r.begin();
  ASSERT_TRUE(tx);
  r.peer->close("amqp:connection:forced");
  r.run();
  r.script.on_transfer = [&](pn_delivery_t* d) { // a peer of now, which does not know the transaction of before
    if (!is_coordinator(pn_delivery_link(d)) || r.peer->messages.back()[5] == 0x31) return r.answer(d);
    pn_condition_set_name(pn_disposition_condition(pn_delivery_local(d)), "amqp:transaction:unknown-id");
    pn_delivery_update(d, PN_REJECTED);
    pn_delivery_settle(d);
  };
  const auto committed = r.rt.drive(tx->commit());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error(), amqp::errc::transaction);
  EXPECT_NE(committed.error().message().find("unknown-id"), std::string::npos) << committed.error().message();
  EXPECT_TRUE(r.rt.drive(r.publisher->begin(transaction_kind::borrowed)));
}

/// The coordinator's link alone.
TEST(amqp_transaction, a_lost_coordinator_is_attached_again_by_the_next_begin) {
  transacting_rig r;
  r.connect_and_pair();
  const auto tx = r.begin();
  ASSERT_TRUE(tx);
  r.peer->detach("(coordinator)", "amqp:transaction:timeout");
  r.run();
  (void)r.seen();
  const auto next = r.begin();
  ASSERT_TRUE(next);
  const strings seen = r.seen();
  EXPECT_EQ(std::ranges::count(seen, "0 attach"), 1);
  EXPECT_TRUE(r.rt.drive(next->commit()));
}

} // namespace
} // namespace millrace::amqp::testing
