#include "session/pull_block.hpp"

#include "session/leases.hpp"

#include <millrace/pubsub/fields.hpp>

#include <utility>

namespace millrace::pubsub::detail {

void pull_delivery::load(const received_view& from) noexcept {
  view_ = from;
  payload_ = as_bytes(from.data);
  subject_ = block_.owner()->name();
  headers_ready_ = false;
  confirmation_.reset();
  set_discarded(false);
  state_.store(state::open, std::memory_order_release);
}

const header_map& pull_delivery::headers() {
  if (headers_ready_) return headers_;
  headers_.clear();
  read_attributes(view_.message, headers_);
  if (!view_.ordering_key.empty()) headers_.set(partition_key_header, view_.ordering_key);
  if (view_.delivery_attempt > 0) headers_.set(delivery_attempt_header, std::to_string(view_.delivery_attempt));
  headers_ready_ = true;
  return headers_;
}

const void* pull_delivery::field(const field_id& id) {
  if (&id == &message_id) return &view_.message_id;
  if (&id == &publish_time) {
    published_ = decltype(published_)(std::chrono::nanoseconds(read_timestamp(view_.publish_time)));
    return &published_;
  }
  if (&id == &ordering_key) return view_.ordering_key.empty() ? nullptr : &view_.ordering_key;
  if (&id == &delivery_attempt) return view_.delivery_attempt == 0 ? nullptr : &view_.delivery_attempt;
  return nullptr;
}

std::shared_ptr<confirmation> pull_delivery::confirmation_of_settlement() {
  confirmation_ = block_.owner()->make_confirmation();
  return confirmation_;
}

result<void> pull_delivery::settle(settlement how) noexcept { return block_.owner()->settle(*this, how); }

void pull_delivery::release() noexcept { block_.owner()->release(*this); }

void pull_block::fill(std::shared_ptr<leases> owner, shared_bytes response) noexcept {
  owner_ = std::move(owner);
  response_ = std::move(response);
  used_ = 0;
}

pull_delivery& pull_block::add(const received_view& from) {
  if (used_ == nodes_.size()) nodes_.emplace_back(*this);
  pull_delivery& node = nodes_[used_++];
  node.load(from);
  return node;
}

std::shared_ptr<leases> pull_block::empty() noexcept {
  response_ = {};
  return std::exchange(owner_, nullptr);
}

} // namespace millrace::pubsub::detail
