#pragma once

#include "transport/in_process/stream.hpp"

#include <map>
#include <memory>
#include <optional>

namespace millrace::nats::detail::in_process {

/// The streams of the server and their API, as subjects. Guarded by the server's lock.
class jetstream {
 public:
  explicit jetstream(jetstream_host& host) noexcept : host_(&host) {}

  /// True if some part of JetStream listens to the message's subject.
  bool publish(const message_ptr& m, std::string_view reply);
  void on_clock();
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;

 private:
  bool acknowledge(const message& m, std::string_view reply);
  bool store(const message_ptr& m, std::string_view reply);
  [[nodiscard]] stream* serving(const message& m);
  /// Any stream with a valid name is there.
  [[nodiscard]] stream* find(std::string_view name);
  [[nodiscard]] bool served_elsewhere(std::string_view filter, const stream& but) const noexcept;

  [[nodiscard]] std::string fresh_name();

  friend class js_api;
  jetstream_host* host_;
  std::map<std::string, std::unique_ptr<stream>, std::less<>> streams_; ///< by name, and asked in that order
  std::uint64_t names_ = 0;
};

} // namespace millrace::nats::detail::in_process
