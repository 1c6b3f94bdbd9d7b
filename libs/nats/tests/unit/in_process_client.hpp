#pragma once

#include "transport/in_process/in_process_transport.hpp"

#include <millrace/testing/virtual_runtime.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millrace::nats::detail::testing {

/// A subscription that keeps what it hears, as "subject|reply|payload" or "status description".
class inbox final : public receiver {
 public:
  struct heard {
    std::string subject;
    std::string reply;
    std::string payload;
    std::string status;
    header_map headers;
  };
  void on_message(received m, bool /*more*/) noexcept override {
    heard h{std::string(m.subject()),
            std::string(m.reply()),
            std::string(as_text(m.payload())),
            std::string(m.header("Status")),
            {}};
    m.load_headers(h.headers);
    messages.push_back(std::move(h));
    if (then) then();
  }
  void on_dropped(std::uint64_t) noexcept override {}

  [[nodiscard]] std::vector<std::string> payloads() const {
    std::vector<std::string> all;
    all.reserve(messages.size());
    for (const heard& h : messages)
      all.push_back(h.status.empty() ? h.payload : h.status);
    return all;
  }
  [[nodiscard]] std::vector<std::string> take_payloads() {
    auto all = payloads();
    messages.clear();
    return all;
  }

  std::vector<heard> messages;
  std::function<void()> then;
  std::unique_ptr<wire_subscription> subscription;
};

class silent_listener final : public connection_listener {
 public:
  void on_disconnected(const error&) noexcept override {}
  void on_reconnected() noexcept override {}
  void on_closed(const error&) noexcept override { ++closed; }
  void on_server_error(std::string_view) noexcept override {}
  int closed = 0;
};

/// A connection with the calls that tests make.
class client {
 public:
  explicit client(runtime& rt, const in_process_options& options = {})
      : transport_(make_in_process_transport(rt, options, listener)) {}
  explicit client(std::shared_ptr<in_process_server> server, const in_process_options& options = {})
      : transport_(make_in_process_transport(std::move(server), options, listener)) {}

  transport* operator->() const noexcept { return transport_.get(); }

  [[nodiscard]] std::unique_ptr<inbox> listen(std::string_view subject, std::string_view queue = {}) {
    auto made = std::make_unique<inbox>();
    made->subscription = transport_->subscribe(subject, queue, *made, 0).value();
    return made;
  }
  result<void> publish(std::string_view subject, std::string_view payload, std::string_view reply = {},
                       std::initializer_list<header_map::entry> headers = {}) {
    header_map map;
    for (const auto& [name, value] : headers)
      map.add(name, value);
    return transport_->publish({subject, reply, as_bytes(payload), &map});
  }
  /// The first answer, or empty; a status as its code. The transport answers before `publish` returns.
  std::string request(std::string_view subject, std::string_view payload = {},
                      std::initializer_list<header_map::entry> headers = {}) {
    const std::string reply = transport_->new_inbox();
    const auto answers = listen(reply);
    if (auto sent = publish(subject, payload, reply, headers); !sent) return sent.error().message();
    return answers->messages.empty() ? std::string() : answers->payloads().front();
  }

  silent_listener listener;

 private:
  std::shared_ptr<transport> transport_;
};

} // namespace millrace::nats::detail::testing
