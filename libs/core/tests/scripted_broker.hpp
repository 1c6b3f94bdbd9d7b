#pragma once

#include "support.hpp"

#include <millrace/confirmation.hpp>

#include <map>
#include <memory>

namespace core_test {

struct sent_message {
  std::string destination;
  std::string payload;
  header_map headers;
};

class script;

/// A message of the scripted broker: it answers a settlement as the script says.
class scripted_message final : public incoming {
 public:
  scripted_message(script& owner, std::string topic, std::string payload, header_map headers)
      : owner_(&owner), topic_(std::move(topic)), text_(std::move(payload)), headers_(std::move(headers)) {
    payload_ = as_bytes(text_);
    subject_ = topic_;
  }
  const header_map& headers() override;
  std::string_view reply_to() override { return headers_.get("reply-to").value_or(""); }
  std::uint32_t delivery_count() const noexcept override;
  bool delays() const noexcept override;
  result<void> settle(settlement how) noexcept override;
  void release() noexcept override;
  std::shared_ptr<confirmation> confirmation_of_settlement() override;

  std::uint32_t deliveries = 0;

 private:
  script* owner_;
  std::string topic_;
  std::string text_;
  header_map headers_;
  std::optional<settlement_kind> settled_;
};

/// What a broker for tests does and what it saw. By default it has neither a delay nor a count, and accepts everything;
/// what is published to a subscribed name arrives there.
class script {
 public:
  std::string name = "scripted";
  retry_path::kind path = retry_path::kind::addressed;
  bool counts = false;
  bool delays = false;
  bool redelivers = true;
  bool confirms = false; ///< settlements are answered later, by whoever takes them out of `unconfirmed`
  runtime* clock = nullptr;
  std::vector<std::shared_ptr<confirmation>> unconfirmed;
  std::function<result<void>(settlement)> on_settle = [](settlement) { return result<void>{}; };
  std::function<result<receipt>(const outgoing&)> on_publish = [](const outgoing&) { return receipt{}; };
  std::function<result<void>()> on_connect = [] { return result<void>{}; };
  std::function<result<void>(const std::string&)> on_declare = [](const std::string&) { return result<void>{}; };
  std::function<result<void>(const std::string&)> on_open = [](const std::string&) { return result<void>{}; };
  std::function<result<void>()> on_shutdown = [] { return result<void>{}; };

  std::vector<std::string> journal; ///< connect, open, settle, release, publish, stop, shutdown, in their order
  std::vector<sent_message> published;
  std::vector<settlement> settled;
  std::size_t released_unsettled = 0;
  std::size_t headers_read = 0;
  std::map<std::string, sink*> sinks;
  bool closed = false;

  void deliver(std::string topic, std::string payload, header_map headers = {}) {
    messages_.push_back(
        std::make_unique<scripted_message>(*this, std::move(topic), std::move(payload), std::move(headers)));
    hand_over(*messages_.back());
  }
  void hand_over(scripted_message& m) {
    const auto to = sinks.find(std::string(m.subject()));
    if (to == sinks.end()) return;
    ++m.deliveries;
    incoming_batch batch;
    batch.push(m);
    to->second->deliver(std::move(batch), deliver_from::anywhere);
  }
  /// All of them in one call.
  void deliver_batch(const std::string& topic, std::initializer_list<const char*> payloads) {
    incoming_batch batch;
    for (const char* payload : payloads) {
      messages_.push_back(std::make_unique<scripted_message>(*this, topic, payload, header_map{}));
      batch.push(*messages_.back());
    }
    sinks.at(topic)->deliver(std::move(batch), deliver_from::anywhere);
  }
  [[nodiscard]] std::size_t times(std::string_view entry) const {
    return static_cast<std::size_t>(std::ranges::count(journal, entry));
  }
  /// Where `entry` stands in the journal first.
  [[nodiscard]] std::size_t place(std::string_view entry) const {
    return static_cast<std::size_t>(std::ranges::find(journal, entry) - journal.begin());
  }

 private:
  std::vector<std::unique_ptr<scripted_message>> messages_;
};

inline const header_map& scripted_message::headers() {
  ++owner_->headers_read;
  return headers_;
}
inline std::uint32_t scripted_message::delivery_count() const noexcept { return owner_->counts ? deliveries : 0; }
inline bool scripted_message::delays() const noexcept { return owner_->delays; }
inline result<void> scripted_message::settle(settlement how) noexcept {
  static constexpr const char* names[] = {"ack", "retry", "retry_after", "drop"};
  owner_->journal.push_back("settle " + std::string(names[static_cast<int>(how.kind)]));
  auto answer = owner_->closed ? fail(errc::closed, "settle") : owner_->on_settle(how);
  if (answer) {
    owner_->settled.push_back(how);
    settled_ = how.kind;
  }
  return answer;
}
inline void scripted_message::release() noexcept {
  owner_->journal.emplace_back("release");
  if (!settled_) ++owner_->released_unsettled;
  if (std::exchange(settled_, std::nullopt) == settlement_kind::retry) owner_->hand_over(*this);
}

inline std::shared_ptr<confirmation> scripted_message::confirmation_of_settlement() {
  if (!owner_->confirms) return nullptr;
  return owner_->unconfirmed.emplace_back(std::make_shared<confirmation>(*owner_->clock));
}

class scripted_topic {
 public:
  scripted_topic(std::string name, std::shared_ptr<script> s) : name_(std::move(name)), script_(std::move(s)) {}
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] result<void> check() const {
    if (name_ == "bad") return fail(errc::invalid_options, "a bad name");
    return {};
  }
  [[nodiscard]] retry_path retries() const {
    return {script_->path, script_->path == retry_path::kind::addressed ? name_ : ""};
  }

 private:
  std::string name_;
  std::shared_ptr<script> script_;
};

class scripted_subscription final : public subscription_port {
 public:
  scripted_subscription(std::string topic, std::shared_ptr<script> s)
      : topic_(std::move(topic)), script_(std::move(s)) {}
  task<void> stop() override {
    script_->journal.push_back("stop " + topic_);
    script_->sinks.erase(topic_);
    co_return;
  }
  bool redelivers() const noexcept override { return script_->redelivers; }

 private:
  std::string topic_;
  std::shared_ptr<script> script_;
};

struct scripted_publish {
  struct options {
    int priority = 0;
  };
  struct priority {
    int value = 0;
  };
  static constexpr bool can_request = true;
};
inline void apply(scripted_publish::options& to, const scripted_publish::priority& p) { to.priority = p.value; }

class scripted_port final : public publish_port {
 public:
  explicit scripted_port(std::shared_ptr<script> s) : script_(std::move(s)) {}
  void publish(const outgoing& message, publish_operation& op) noexcept override {
    const std::string to(message.destination);
    script_->journal.push_back("publish " + to);
    if (script_->closed) return op.complete_now(fail(errc::closed, "publish to '" + to + "'"));
    auto answer = script_->on_publish(message);
    if (answer) {
      const header_map headers = message.headers != nullptr ? *message.headers : header_map{};
      script_->published.push_back({to, std::string(as_text(message.payload)), headers});
      script_->deliver(to, std::string(as_text(message.payload)), headers);
    }
    op.complete_now(std::move(answer));
  }

 private:
  std::shared_ptr<script> script_;
};

class scripted_connection {
 public:
  struct closed_type {};
  using default_policy = scripted_publish;
  explicit scripted_connection(std::shared_ptr<script> s) : script_(std::move(s)) {}

  result<std::shared_ptr<publish_port>> pair(const scripted_publish&) {
    return std::make_shared<scripted_port>(script_);
  }
  [[nodiscard]] result<void> declare(const scripted_topic& source, const open_options& options) const {
    return script_->on_declare(source.name() + " as " + options.subscription);
  }
  task<open_result> open(const scripted_topic& source, sink& to, const open_options& /*options*/) {
    script_->journal.push_back("open " + source.name());
    auto opened = script_->on_open(source.name());
    if (!opened) co_return fail(std::move(opened).error());
    script_->sinks[source.name()] = &to;
    co_return std::make_unique<scripted_subscription>(source.name(), script_);
  }
  task<result<closed_type>> shutdown() && {
    const auto s = script_;
    s->journal.push_back("shutdown " + s->name);
    s->closed = true;
    auto done = s->on_shutdown();
    if (!done) co_return fail(std::move(done).error());
    co_return closed_type{};
  }

 private:
  std::shared_ptr<script> script_;
};

class scripted_broker {
 public:
  using connected_type = scripted_connection;
  explicit scripted_broker(std::shared_ptr<script> s) : script_(std::move(s)) {}
  [[nodiscard]] std::string describe() const { return script_->name; }
  task<result<scripted_connection>> connect(runtime& rt) && {
    const auto s = script_;
    s->clock = &rt;
    s->journal.push_back("connect " + s->name);
    auto connected = s->on_connect();
    if (!connected) co_return fail(std::move(connected).error());
    co_return scripted_connection(s);
  }
  task<result<scripted_connection>> connect_in_process(runtime& rt) && { return std::move(*this).connect(rt); }

 private:
  std::shared_ptr<script> script_;
};

/// A service on a scripted broker.
class scripted_rig : public rig {
 public:
  std::shared_ptr<script> broker = std::make_shared<script>();
  std::optional<scope<scripted_broker, void>> on = app.with_broker(scripted_broker(broker));
  template <class Handler> registration& subscribe(std::string name, Handler handler) {
    return on->subscribe(scripted_topic(std::move(name), broker), std::move(handler));
  }
  void deliver(std::string topic, std::string payload, header_map headers = {}) {
    broker->deliver(std::move(topic), std::move(payload), std::move(headers));
    settle();
  }
};

inline header_map headers_of(std::string_view name, std::string_view value) {
  header_map h;
  h.set(name, value);
  return h;
}

} // namespace core_test
