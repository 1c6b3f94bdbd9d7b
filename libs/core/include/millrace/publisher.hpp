#pragma once

#include <millrace/bytes.hpp>
#include <millrace/codec/json.hpp>
#include <millrace/observer.hpp>
#include <millrace/outbound.hpp>
#include <millrace/outgoing.hpp>
#include <millrace/publish_cell.hpp>
#include <millrace/publish_pipeline.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace millrace {

/// A publisher of one policy, made while the service is built and live from its start to its shutdown. Copies share it;
/// any thread may publish. Before the start it answers `errc::not_connected`, after the shutdown `errc::closed`.
template <class Policy> class publisher {
 public:
  using policy_type = Policy;
  explicit publisher(std::shared_ptr<detail::publish_cell> cell) noexcept : cell_(std::move(cell)) {}

  /// A value in the codec's encoding. If its type declares a destination or headers, the builder asks for what is open,
  /// and for no more.
  template <class Codec = json_codec, class T> [[nodiscard]] auto message(const T& value) const {
    return detail::start_message<Policy, Codec>(*cell_, value);
  }
  /// Bytes as they are.
  [[nodiscard]] outbound_bytes<Policy> bytes(bytes_view payload) const noexcept { return {*cell_, payload}; }
  [[nodiscard]] outbound_bytes<Policy> text(std::string_view payload) const noexcept {
    return bytes(as_bytes(payload));
  }

  /// `co_await pub.publish("orders", order)`, for a type that declares no destination.
  template <class Codec = json_codec, class T>
  [[nodiscard]] auto publish(std::string_view destination, const T& value) const {
    return message<Codec>(value).to(destination);
  }

  /// Sets a header of every message; a call or a transform may override it. While the service is built.
  const publisher& base_header(std::string_view name, std::string_view value) const {
    cell_->pipeline.base_headers.set(name, value);
    return *this;
  }
  /// Adds a transform, after those before. While the service is built.
  const publisher& transform(publish_transform change) const {
    cell_->pipeline.transforms.push_back(std::move(change));
    return *this;
  }

  [[nodiscard]] const std::shared_ptr<detail::publish_cell>& cell() const noexcept { return cell_; }

 private:
  std::shared_ptr<detail::publish_cell> cell_;
};

} // namespace millrace
