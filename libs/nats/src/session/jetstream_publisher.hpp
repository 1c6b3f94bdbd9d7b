#pragma once

#include "session/connection.hpp"

#include <millrace/nats/publish.hpp>
#include <millrace/outgoing.hpp>

#include <memory>
#include <string>

namespace millrace::nats::detail {

/// Publishes to a stream and waits for its acknowledgement, bounded by the API timeout. A time-out leaves the outcome
/// unknown: only a repeat with the same message id is safe (nats 12.34).
class jetstream_publisher final : public publish_port {
 public:
  jetstream_publisher(std::shared_ptr<connection> shared, std::string expected_stream);
  ~jetstream_publisher() override;

  void publish(const outgoing& message, publish_operation& op) noexcept override;

 private:
  class flight; // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final
  class flights;
  [[nodiscard]] result<void> send(const outgoing& message, flight& f);
  void add_protocol_headers(const outgoing& message, header_map& headers) const;

  std::shared_ptr<connection> shared_;
  const std::string expected_stream_;
  std::shared_ptr<flights> flights_;
};

} // namespace millrace::nats::detail
