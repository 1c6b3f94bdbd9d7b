#pragma once

#include <millrace/context.hpp>
#include <millrace/outgoing.hpp>
#include <millrace/task.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// A message on its way through the publish pipeline: what the call wrote, over the publisher's base headers and the
/// policy's options.
class publish_draft {
 public:
  publish_draft(const outgoing& message, const header_map& base, std::shared_ptr<void> options, context* origin);

  [[nodiscard]] std::string_view destination() const noexcept { return destination_; }
  /// Once: two transforms that name it are an error of the publish.
  void set_destination(std::string destination) {
    destination_ = std::move(destination);
    ++named_;
  }
  [[nodiscard]] bool named_twice() const noexcept { return named_ > 1; }
  [[nodiscard]] bytes_view payload() const noexcept { return payload_; }
  [[nodiscard]] header_map& headers() noexcept { return headers_; }
  /// The policy's per-message options.
  template <class Policy> [[nodiscard]] typename Policy::options& options() noexcept {
    return *static_cast<typename Policy::options*>(options_.get());
  }
  /// For a reply: the delivery that is answered; else null.
  [[nodiscard]] context* origin() const noexcept { return origin_; }
  [[nodiscard]] outgoing message() const noexcept;

 private:
  std::string destination_;
  bytes_view payload_;
  header_map headers_;
  std::shared_ptr<void> options_;
  context* origin_;
  unsigned named_ = 0;
};

/// Changes one publisher's messages before they leave: headers, options, destination. Called from any thread; an error
/// stops the publish.
using publish_transform = std::function<result<void>(publish_draft&)>;

/// The rest of the pipeline, down to the broker. May be called again, to try once more.
class next_publish {
 public:
  class source {
   public:
    virtual task<result<receipt>> call(std::size_t position) = 0;

   protected:
    ~source() = default;
  };
  next_publish(source& chain, std::size_t position) noexcept : chain_(&chain), position_(position) {}
  [[nodiscard]] task<result<receipt>> operator()() const { return chain_->call(position_); }

 private:
  source* chain_;
  std::size_t position_;
};

/// Wraps every publish of a service (replies, outputs, requests, transactions and copies too): it may wait, retry,
/// answer by itself, or watch. Shared by all publishers, so it must be thread-safe.
class publish_layer {
 public:
  publish_layer() = default;
  publish_layer(const publish_layer&) = default;
  publish_layer& operator=(const publish_layer&) = default;
  virtual ~publish_layer() = default;
  virtual task<result<receipt>> around(publish_draft& draft, next_publish next) = 0;
};

namespace detail {

/// What a publisher does to its messages. Written while the service is built, read only once it runs.
struct publish_pipeline {
  header_map base_headers;
  std::vector<publish_transform> transforms;
  std::vector<std::shared_ptr<publish_layer>> layers; ///< innermost first: the last one added is outermost
  std::shared_ptr<void> (*make_options)(const void* from) = nullptr;

  [[nodiscard]] bool empty() const noexcept { return base_headers.empty() && transforms.empty() && layers.empty(); }
};

/// Copies a policy's options, or makes its defaults.
template <class Policy> std::shared_ptr<void> make_policy_options(const void* from) {
  using options = typename Policy::options;
  return from != nullptr ? std::make_shared<options>(*static_cast<const options*>(from)) : std::make_shared<options>();
}

/// Sends a finished draft.
using send_draft = std::function<task<result<receipt>>(publish_draft&)>;

/// Transforms, then layers, then `send`.
task<result<receipt>> run_pipeline(const publish_pipeline& pipeline, publish_draft& draft, const send_draft& send);

} // namespace detail
} // namespace millrace
