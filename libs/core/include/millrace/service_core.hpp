#pragma once

#include <millrace/broker.hpp>
#include <millrace/health.hpp>
#include <millrace/registration.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace {

struct service_info {
  std::string title;
  std::string version = "0.0.0";
  std::string description = {};
};

/// What a process that runs a service exits with.
enum class exit_code : int {
  stopped = 0,      ///< stopped in order
  start_failed = 1, ///< a hook, a connection or a subscription failed at start
  bad_command = 2,  ///< the command line
  failed_fast = 3,  ///< a handler failed under `fail_fast`, or a subscription ended under `stop_when_ended`
  unclean = 4,      ///< the shutdown left handlers running, or a broker did not close in order
  killed = 128,     ///< plus the signal's number: the second signal
};

using service_hook = std::function<task<result<void>>()>;

enum class connect_mode : std::uint8_t { live, in_process };

namespace detail {

/// One broker of a service, its type erased.
class broker_entry {
 public:
  explicit broker_entry(std::string label) : label_(std::move(label)) {}
  broker_entry(const broker_entry&) = delete;
  broker_entry& operator=(const broker_entry&) = delete;
  virtual ~broker_entry() = default;

  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual const void* type() const noexcept = 0;
  virtual task<result<void>> connect(runtime& rt, connect_mode mode) = 0;
  virtual task<result<void>> shutdown() = 0;
  /// The connected broker, or null.
  [[nodiscard]] virtual void* connected() noexcept = 0;
  /// A publisher of the broker's default policy, while it is connected.
  [[nodiscard]] virtual result<std::shared_ptr<publish_port>> default_port() = 0;

  registration& add(std::unique_ptr<subscription_plan> plan);
  std::shared_ptr<publish_cell> add_publisher(std::function<result<std::shared_ptr<publish_port>>(void*)> pair);
  void after_startup(service_hook hook) { after_startup_.push_back(std::move(hook)); }
  void use(consume_link link) { middleware_.push_back(std::move(link)); }
  [[nodiscard]] const consume_links& middleware() const noexcept { return middleware_; }
  /// Makes every publisher live.
  result<void> pair_publishers(runtime& rt, observer* watcher,
                               const std::vector<std::shared_ptr<publish_layer>>& layers);
  /// The run and its observer are gone; the handles of publishers may outlive both.
  void forget_watcher() noexcept;
  /// Makes the publishes of each output known by its name, once the publishers are live.
  void name_outputs();

  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  /// The label, or where there is none the address.
  [[nodiscard]] std::string name() const { return label_.empty() ? describe() : label_; }
  [[nodiscard]] const std::vector<std::unique_ptr<subscription_plan>>& plans() const noexcept { return plans_; }
  [[nodiscard]] const std::vector<service_hook>& after_startup_hooks() const noexcept { return after_startup_; }

 private:
  struct pairing {
    std::shared_ptr<publish_cell> cell;
    std::function<result<std::shared_ptr<publish_port>>(void*)> pair;
  };
  std::string label_;
  std::vector<std::unique_ptr<subscription_plan>> plans_;
  std::vector<std::unique_ptr<registration>> registrations_;
  std::vector<pairing> pairings_;
  std::vector<service_hook> after_startup_;
  consume_links middleware_;
};

/// The address of this names a type without RTTI.
template <class T> inline constexpr char type_tag = 0;

template <broker_type Broker> class broker_model final : public broker_entry {
 public:
  broker_model(std::string label, Broker broker) : broker_entry(std::move(label)), broker_(std::move(broker)) {
    describe_ = broker_->describe();
  }
  std::string describe() const override { return describe_; }
  const void* type() const noexcept override { return &type_tag<Broker>; }
  void* connected() noexcept override { return connected_ ? &*connected_ : nullptr; }
  result<std::shared_ptr<publish_port>> default_port() override {
    if (!connected_) return fail(errc::not_connected, describe_);
    return connected_->pair(typename Broker::connected_type::default_policy{});
  }

  task<result<void>> connect(runtime& rt, connect_mode mode) override {
    if (!broker_)
      co_return fail(errc::invalid_options, "'" + describe_ + "' was connected before: a service runs once");
    Broker broker = std::move(*broker_);
    broker_.reset();
    if (mode == connect_mode::live) {
      co_return keep(co_await std::move(broker).connect(rt));
    }
    if constexpr (in_process_broker<Broker>) {
      co_return keep(co_await std::move(broker).connect_in_process(rt));
    } else {
      co_return fail(errc::unsupported, "'" + describe_ + "' has no in-process mode");
    }
  }

  task<result<void>> shutdown() override {
    if (!connected_) co_return result<void>{};
    auto connected = std::move(*connected_);
    connected_.reset();
    auto closed = co_await std::move(connected).shutdown();
    if (!closed) co_return fail(std::move(closed).error());
    co_return result<void>{};
  }

 private:
  result<void> keep(result<typename Broker::connected_type> connected) {
    if (!connected) return fail(std::move(connected).error());
    connected_.emplace(std::move(*connected));
    return {};
  }
  std::optional<Broker> broker_;
  std::optional<typename Broker::connected_type> connected_;
  std::string describe_;
};

} // namespace detail

class hosted_run;

/// A started service. Destroying it stops the service, in order.
class running_service {
 public:
  explicit running_service(std::unique_ptr<hosted_run> hosted) noexcept;
  running_service(running_service&&) noexcept;
  running_service& operator=(running_service&&) noexcept;
  ~running_service();

  [[nodiscard]] health_probe health() const;
  /// Blocks until the service stops itself (fail fast, or an ended subscription under `stop_when_ended`).
  void wait_until_stopping();
  /// Stops in order and answers why the service failed, if it did. Blocks; bounded by the shutdown timeout.
  result<void> shutdown();

 private:
  friend class service_core;
  void wait_for(task<void> until);
  std::unique_ptr<hosted_run> hosted_;
};

class service_run;

/// The untyped service: what `service` builds, and what a harness runs.
class service_core : public std::enable_shared_from_this<service_core> {
 public:
  explicit service_core(service_info info);
  service_core(const service_core&) = delete;
  service_core& operator=(const service_core&) = delete;
  ~service_core();

  void make_state(std::function<task<result<std::shared_ptr<const void>>>()> make) { make_state_ = std::move(make); }
  /// Handlers may read a state, so `check` refuses a service without `make_state`.
  void require_state() noexcept { needs_state_ = true; }
  void on_startup(service_hook hook) { on_startup_.push_back(std::move(hook)); }
  void after_startup(service_hook hook) { after_startup_.push_back(std::move(hook)); }
  void on_shutdown(service_hook hook) { on_shutdown_.push_back(std::move(hook)); }
  void after_shutdown(service_hook hook) { after_shutdown_.push_back(std::move(hook)); }
  void use(detail::consume_link link) { middleware_.push_back(std::move(link)); }
  void use(std::shared_ptr<publish_layer> layer) { publish_layers_.push_back(std::move(layer)); }
  void threads(unsigned n) noexcept { threads_ = n; }
  void shutdown_timeout(duration bound) noexcept { shutdown_timeout_ = bound; }
  void add(std::unique_ptr<detail::broker_entry> entry) { brokers_.push_back(std::move(entry)); }

  int run();
  result<void> run_until(task<void> until);
  result<running_service> start();
  int main(int argc, char** argv);
  /// Everything that can be refused without I/O: descriptors, names, missing state.
  [[nodiscard]] result<void> check() const;

  [[nodiscard]] unsigned thread_count() const noexcept;
  [[nodiscard]] duration shutdown_bound() const noexcept { return shutdown_timeout_; }
  [[nodiscard]] const service_info& info() const noexcept { return info_; }
  [[nodiscard]] const std::vector<std::unique_ptr<detail::broker_entry>>& brokers() const noexcept { return brokers_; }

 private:
  friend class service_run;
  service_info info_;
  std::function<task<result<std::shared_ptr<const void>>>()> make_state_;
  bool needs_state_ = false;
  std::vector<service_hook> on_startup_;
  std::vector<service_hook> after_startup_;
  std::vector<service_hook> on_shutdown_;
  std::vector<service_hook> after_shutdown_;
  detail::consume_links middleware_;
  std::vector<std::shared_ptr<publish_layer>> publish_layers_;
  std::optional<unsigned> threads_;
  duration shutdown_timeout_ = std::chrono::seconds(30);
  std::vector<std::unique_ptr<detail::broker_entry>> brokers_;
};

} // namespace millrace
