#pragma once

#include <millrace/pool_runtime.hpp>
#include <millrace/rabbitmq.hpp>
#include <millrace/receiver.hpp>
#include <millrace/testing/conformance_gtest.hpp>

#include <functional>
#include <string>
#include <vector>

namespace millrace::rabbitmq::testing {

namespace conformance = millrace::testing::conformance;
using conformance::run_mode;

/// Declares the source's queue: a message that comes before its first consumer finds it.
template <class Source> result<void> declare_ahead(const std::string& url, const Source& source) {
  pool_runtime rt(1);
  auto connected = sync_wait(broker(url).prefetch(1).declare_topology(true).connect(rt));
  if (!connected) return fail(std::move(connected).error());
  auto opened = sync_wait(open_receiver(rt, *connected, source));
  result<void> done;
  if (opened)
    (void)sync_wait((*opened)->stop());
  else
    done = fail(std::move(opened).error());
  (void)sync_wait(std::move(*connected).shutdown());
  return done;
}

/// The kits of every kind of source and policy, in one mode, for the server at the address that `url` answers.
class kit_maker {
 public:
  kit_maker(run_mode mode, std::function<std::string()> url) : mode_(mode), url_(std::move(url)) {}

  [[nodiscard]] std::vector<conformance::kit_ptr> all() const {
    const auto classic = [](const std::string& name) { return queue(name); };
    const auto waiting = [](const std::string& name) { return queue(name).delay(delay::waiting_queue()); };
    const auto stream = [](const std::string& name) { return stream_queue(name); };
    const auto quorum = [](const std::string& name) { return quorum_queue(name); };
    std::vector<conformance::kit_ptr> kits{
        make<queue, publish>("rabbitmq_classic", of_a_queue(), classic),
        make<queue, confirms>("rabbitmq_confirms", transacting(true), classic),
        make<queue, transactions>("rabbitmq_transactions", transacting(false), classic),
        make<queue, publish>("rabbitmq_waiting_queue", delayed(), waiting),
        // Without confirms the server may lose what a quorum queue had not taken when the connection ended.
        make<quorum_queue, confirms>("rabbitmq_quorum", counted_and_confirmed(), quorum),
        make<stream_queue, publish>("rabbitmq_stream", of_a_stream(), stream),
        make<queue, request>("rabbitmq_requests", asking(), classic),
    };
    if (mode_ == run_mode::live) return kits; // the delayed-message plugin is not among Debian's
    const auto by_exchange = [](const std::string& name) { return queue(name).delay(delay::delayed_exchange()); };
    kits.push_back(make<queue, publish>("rabbitmq_delayed_exchange", delayed(), by_exchange));
    return kits;
  }

 private:
  [[nodiscard]] conformance::capabilities of_a_queue() const {
    conformance::capabilities can;
    can.settles = true;
    can.requeues = true;
    can.redelivers_unsettled = true;
    can.groups = true;
    can.shared = true;
    can.stores = mode_ == run_mode::live; // in process the server ends with its last connection
    return can;
  }
  /// It is read from what comes next, and keeps no position for a reader.
  [[nodiscard]] static conformance::capabilities of_a_stream() {
    conformance::capabilities can;
    can.settles = true;
    can.shared = true;
    return can;
  }
  [[nodiscard]] conformance::capabilities delayed() const {
    auto can = of_a_queue();
    can.delays = true;
    return can;
  }
  [[nodiscard]] conformance::capabilities counted_and_confirmed() const {
    auto can = transacting(true);
    can.counts_deliveries = true;
    return can;
  }
  [[nodiscard]] conformance::capabilities asking() const {
    auto can = of_a_queue();
    can.requests = true;
    can.refuses_unheard = true;
    return can;
  }

  [[nodiscard]] conformance::capabilities transacting(bool owned) const {
    auto can = of_a_queue();
    can.transactions = true;
    can.owned_transactions = owned;
    return can;
  }

  template <class Source, class Policy> [[nodiscard]] conformance::kit_ptr
  make(const char* name, conformance::capabilities can, Source (*source)(const std::string&)) const {
    return conformance::kit_of<broker, Source, Policy>({
        .name = name,
        .mode = mode_,
        .can = can,
        .make = [url = url_] { return broker(url()).prefetch(64).declare_topology(true); },
        .source = source,
        .prepare = [live = mode_ == run_mode::live, url = url_, source](
                       const std::string& name) { return live ? declare_ahead(url(), source(name)) : result<void>(); },
        .at = [](const std::string& host_port) { return broker("amqp://guest:guest@" + host_port); },
        // Of a broker that declares, a queue that it does not.
        .refused = [](const std::string& unused) { return Source(unused).with_topology(topology::assume); },
        .quiet = std::chrono::milliseconds(500),
        .key = [](std::string_view key, header_map& headers,
                  typename Policy::options&) { headers.set(partition_key_header, key); },
    });
  }

  run_mode mode_;
  std::function<std::string()> url_;
};

inline bool register_kits(const kit_maker& of) {
  for (const auto& kit : of.all())
    conformance::register_checks({kit});
  return true;
}

} // namespace millrace::rabbitmq::testing
