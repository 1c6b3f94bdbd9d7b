#include "session/confirm_ledger.hpp"

#include <algorithm>

namespace millrace::rabbitmq::detail {

void confirm_ledger::grow() {
  std::vector<entry> larger(std::max<std::size_t>(16, 2 * ring_.size()));
  for (std::size_t i = 0; i < size_; ++i)
    larger[i] = std::move(at(i));
  ring_ = std::move(larger);
  head_ = 0;
}

void confirm_ledger::add(publish_operation& operation, std::string_view routing_key, time_point due) {
  if (size_ == ring_.size()) grow();
  entry& e = at(size_++);
  e.operation = &operation;
  e.routing_key.assign(routing_key);
  e.due = due;
  e.return_code = 0;
  e.confirmed = false;
}

void confirm_ledger::end(entry& e, settled_publish::how how, std::vector<settled_publish>& ended) {
  if (e.operation == nullptr) return;
  settled_publish& out = ended.emplace_back();
  out.operation = e.operation;
  out.end = how;
  out.return_code = e.return_code;
  if (how != settled_publish::how::accepted) out.routing_key = e.routing_key;
  e.operation = nullptr;
}

bool confirm_ledger::confirm(std::uint64_t tag, bool multiple, bool accepted, std::vector<settled_publish>& ended) {
  if (tag == 0 && multiple) tag = first_tag_ + size_ - 1;
  if (tag < first_tag_) return multiple; // a range that ended before
  const std::size_t last = tag - first_tag_;
  if (last >= size_) return false;
  for (std::size_t i = multiple ? 0 : last; i <= last; ++i) {
    entry& e = at(i);
    e.confirmed = true;
    if (!accepted)
      end(e, settled_publish::how::refused, ended);
    else if (e.return_code != 0)
      end(e, settled_publish::how::returned, ended);
    else
      end(e, settled_publish::how::accepted, ended);
  }
  while (size_ > 0 && at(0).confirmed) {
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    ++first_tag_;
  }
  return true;
}

void confirm_ledger::returned(std::string_view routing_key, std::uint16_t code) noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    entry& e = at(i);
    if (!e.confirmed && e.routing_key == routing_key) e.return_code = code;
  }
}

void confirm_ledger::expire(time_point now, std::vector<settled_publish>& ended) {
  for (std::size_t i = 0; i < size_ && at(i).due <= now; ++i)
    end(at(i), settled_publish::how::expired, ended);
}

void confirm_ledger::lose(std::vector<settled_publish>& ended) {
  for (std::size_t i = 0; i < size_; ++i)
    end(at(i), settled_publish::how::lost, ended);
  size_ = 0;
  head_ = 0;
  first_tag_ = 1;
}

const time_point* confirm_ledger::next_due() const noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    if (at(i).operation != nullptr) return &at(i).due;
  }
  return nullptr;
}

} // namespace millrace::rabbitmq::detail
