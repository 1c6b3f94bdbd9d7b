#include <millrace/resilience/idempotency_store.hpp>

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace millrace::resilience {

/// The ids that are known. All done ids live equally long, so the order of completion is that of expiry.
class memory_idempotency_store::table {
 public:
  explicit table(memory_store_options options) : options_(options) {}

  result<claim> try_claim(std::string_view id, time_point now) {
    const std::scoped_lock lock(mutex_);
    drop_expired(now);
    auto known = entries_.find(id);
    if (known == entries_.end()) {
      if (!has_room(now)) {
        return fail(millrace::errc::queue_full,
                    "idempotency store: " + std::to_string(entries_.size()) + " claims are in progress");
      }
      known = entries_.try_emplace(std::string(id)).first;
    } else if (known->second.done) {
      return claim{claim_state::done, 0};
    } else if (now < known->second.until) {
      return claim{claim_state::in_progress, 0};
    }
    known->second.until = now + options_.lease();
    known->second.ticket = ++tickets_;
    return claim{claim_state::fresh, tickets_};
  }

  result<void> complete(std::string_view id, time_point now) {
    const std::scoped_lock lock(mutex_);
    auto known = entries_.find(id);
    if (known == entries_.end()) {
      if (!has_room(now)) return fail(millrace::errc::queue_full, "idempotency store: no room for what is done");
      known = entries_.try_emplace(std::string(id)).first;
    }
    entry& e = known->second;
    if (e.done) return {};
    e.done = true;
    e.until = now + options_.ttl();
    done_.push_back(&*known);
    return {};
  }

  void forget(std::string_view id, std::uint64_t ticket) {
    const std::scoped_lock lock(mutex_);
    const auto known = entries_.find(id);
    if (known != entries_.end() && !known->second.done && known->second.ticket == ticket) entries_.erase(known);
  }

  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return entries_.size();
  }

 private:
  struct entry {
    time_point until{};
    std::uint64_t ticket = 0;
    bool done = false;
  };
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  using entry_map = std::unordered_map<std::string, entry, text_hash, std::equal_to<>>;

  void drop_oldest() {
    entries_.erase(entries_.find(done_.front()->first));
    done_.pop_front();
  }

  void drop_expired(time_point now) {
    while (!done_.empty() && done_.front()->second.until <= now)
      drop_oldest();
  }

  bool has_room(time_point now) {
    if (entries_.size() < options_.capacity()) return true;
    if (done_.empty()) {
      std::erase_if(entries_, [now](const auto& known) { return known.second.until <= now; });
    } else {
      drop_oldest();
    }
    return entries_.size() < options_.capacity();
  }

  const memory_store_options options_;
  mutable std::mutex mutex_;
  entry_map entries_;
  std::list<entry_map::value_type*> done_; ///< the oldest first
  std::uint64_t tickets_ = 0;
};

memory_idempotency_store::memory_idempotency_store(memory_store_options options)
    : table_(std::make_unique<table>(options)) {}

memory_idempotency_store::~memory_idempotency_store() = default;

task<result<claim>> memory_idempotency_store::try_claim(std::string_view id, time_point now) {
  co_return table_->try_claim(id, now);
}

task<result<void>> memory_idempotency_store::complete(std::string_view id, time_point now) {
  co_return table_->complete(id, now);
}

task<result<void>> memory_idempotency_store::forget(std::string_view id, std::uint64_t ticket) {
  table_->forget(id, ticket);
  co_return result<void>{};
}

std::size_t memory_idempotency_store::size() const { return table_->size(); }

} // namespace millrace::resilience
