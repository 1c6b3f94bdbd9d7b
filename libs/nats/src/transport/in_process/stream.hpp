#pragma once

#include "transport/in_process/consumer.hpp"

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::nats::detail::in_process {

/// A stream: it serves what its consumers filter. Before a consumer filters anything, it also takes what names it.
class stream {
 public:
  /// The server's default window for `Nats-Msg-Id`.
  static constexpr duration duplicate_window = std::chrono::minutes(2);

  stream(jetstream_host& host, std::string_view name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::int64_t created() const noexcept { return created_; }
  [[nodiscard]] const std::vector<std::string>& subjects() const noexcept { return subjects_; }
  [[nodiscard]] const message_store& store() const noexcept { return store_; }
  [[nodiscard]] bool serves(std::string_view subject) const noexcept;
  [[nodiscard]] bool open() const noexcept { return !filtered_; }
  /// Another subject, or a pattern, that publishes reach it by.
  void serve(std::string_view subject);
  void serve_filter(std::string_view filter);

  /// Stores or refuses; the answer is the text of the publish ack.
  [[nodiscard]] std::string publish(const message_ptr& m);

  [[nodiscard]] consumer* find(std::string_view name) const noexcept;
  consumer& add(std::string_view name, consumer_config config);
  bool remove(std::string_view name);
  [[nodiscard]] std::size_t consumers() const noexcept { return consumers_.size(); }

  void on_clock();
  [[nodiscard]] std::optional<time_point> next_due() const noexcept;

 private:
  [[nodiscard]] std::optional<std::string> refusal(const message& m) const;
  [[nodiscard]] std::optional<std::uint64_t> duplicate_of(const message& m);
  void remember(std::string_view id, std::uint64_t sequence);
  void drop_excess();

  jetstream_host* host_;
  std::string name_;
  std::int64_t created_;
  std::vector<std::string> subjects_;
  message_store store_;
  std::vector<std::unique_ptr<consumer>> consumers_; ///< in order of creation
  std::unordered_map<std::string, std::uint64_t> ids_;
  std::deque<std::pair<time_point, std::string>> ids_by_age_;
  std::string last_id_;
  bool filtered_ = false;
};

} // namespace millrace::nats::detail::in_process
