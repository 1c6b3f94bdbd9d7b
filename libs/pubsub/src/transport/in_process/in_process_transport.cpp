#include "transport/in_process/in_process_transport.hpp"

#include <millrace/event.hpp>

#include <deque>

namespace millrace::pubsub::detail {
namespace {

/// What is under way: answers and streams that have still to be called.
class pending_work {
 public:
  explicit pending_work(runtime& rt) : none_(rt) { none_.set(); }
  void add() {
    const std::lock_guard lock(mutex_);
    if (++count_ == 1) none_.clear();
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.set();
  }
  [[nodiscard]] event::waiter wait_until_none(time_point due) { return none_.wait_until(due); }

 private:
  std::mutex mutex_;
  std::size_t count_ = 0;
  event none_;
};

/// An answer on its way back.
struct answer_job final : job {
  answer_job(std::shared_ptr<pending_work> work, call_answer a, call_done d)
      : job([](job& j) noexcept { run(static_cast<answer_job&>(j)); }), work(std::move(work)), answer(std::move(a)),
        done(std::move(d)) {
    this->work->add();
  }
  static void run(answer_job& self) {
    const std::unique_ptr<answer_job> last(&self);
    self.done(std::move(self.answer));
    self.work->remove();
  }
  std::shared_ptr<pending_work> work;
  call_answer answer;
  call_done done;
};

/// A stream between the service, which speaks with its lock held, and its events, which are jobs.
class inside_stream final : public pull_stream,
                            public cloud_stream,
                            public std::enable_shared_from_this<inside_stream> {
 public:
  inside_stream(runtime& rt, std::shared_ptr<cloud_host> host, std::shared_ptr<pending_work> work,
                std::shared_ptr<stream_events> events)
      : clock_(rt), host_(std::move(host)), work_(std::move(work)), events_(std::move(events)), job_(*this) {}

  void start(const std::string& first) {
    work_->add();
    const call_status opened = host_->with([&](cloud& c, time_point now) { return c.attach(*this, first, now); });
    const std::lock_guard lock(mutex_);
    self_ = shared_from_this();
    if (!opened.ok())
      ended_ = opened;
    else
      accepted_ = true;
    schedule();
  }

  void send(std::string request) noexcept override {
    const call_status taken = host_->with([&](cloud& c, time_point now) { return c.request(*this, request, now); });
    if (!taken.ok()) leave(taken);
  }
  void read() noexcept override {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
    schedule();
  }
  void finish() noexcept override { leave({}); }
  void cancel() noexcept override {
    call_status cancelled;
    cancelled.code = status_code::cancelled;
    leave(cancelled);
  }

  void send(const wire::StreamingPullResponse& response) override {
    const std::lock_guard lock(mutex_);
    responses_.push_back(std::make_shared<const std::string>(response.SerializeAsString()));
    schedule();
  }
  void end(call_status why) override {
    const std::lock_guard lock(mutex_);
    if (!ended_) ended_ = std::move(why);
    schedule();
  }

 private:
  struct pump_job : job {
    explicit pump_job(inside_stream& s) noexcept
        : job([](job& j) noexcept { static_cast<pump_job&>(j).stream->pump(); }), stream(&s) {}
    inside_stream* stream;
  };

  void leave(const call_status& why) {
    host_->with([&](cloud& c, time_point) {
      c.detach(*this);
      return 0;
    });
    end(why);
  }

  void schedule() {
    if (scheduled_ || self_ == nullptr) return;
    scheduled_ = true;
    clock_.post(job_);
  }

  /// Tells one thing after the other.
  void pump() {
    std::shared_ptr<inside_stream> self;
    std::unique_lock lock(mutex_);
    scheduled_ = false;
    self = self_;
    if (std::exchange(accepted_, false)) {
      lock.unlock();
      events_->on_opened();
      lock.lock();
    }
    while (wanted_ && !responses_.empty() && !ended_) {
      std::shared_ptr<const std::string> body = std::move(responses_.front());
      responses_.pop_front();
      wanted_ = false;
      lock.unlock();
      const std::string_view view = *body;
      events_->on_response({std::move(body), view});
      lock.lock();
    }
    if (!ended_ || self_ == nullptr) return;
    self_.reset();
    lock.unlock();
    events_->on_closed(*ended_);
    work_->remove();
  }

  runtime& clock_;
  const std::shared_ptr<cloud_host> host_;
  const std::shared_ptr<pending_work> work_;
  const std::shared_ptr<stream_events> events_;
  std::mutex mutex_;
  std::shared_ptr<inside_stream> self_; ///< until it is closed
  std::deque<std::shared_ptr<const std::string>> responses_;
  std::optional<call_status> ended_;
  bool accepted_ = false;
  bool wanted_ = false;
  bool scheduled_ = false;
  pump_job job_;
};

class in_process_transport final : public transport {
 public:
  in_process_transport(runtime& rt, std::shared_ptr<cloud_host> host)
      : clock_(rt), host_(std::move(host)), work_(std::make_shared<pending_work>(rt)) {}

  in_process_transport(const in_process_transport&) = delete;
  in_process_transport& operator=(const in_process_transport&) = delete;
  ~in_process_transport() override { abandon(); }

  void call(const call_request& request, call_done done) noexcept override {
    call_answer answer;
    if (closed_.load())
      answer.status.code = status_code::cancelled;
    else
      answer = host_->with([&](cloud& c, time_point now) { return c.call(request.which, *request.body, now); });
    // Frees itself; without memory the process ends. NOLINTNEXTLINE(bugprone-unhandled-exception-at-new)
    clock_.post(*new answer_job(work_, std::move(answer), std::move(done)));
  }

  std::shared_ptr<pull_stream> open(std::string first, std::string_view /*routing*/,
                                    std::shared_ptr<stream_events> events) noexcept override {
    auto stream = std::make_shared<inside_stream>(clock_, host_, work_, std::move(events));
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(streams_, [](const auto& s) { return s.expired(); });
      streams_.push_back(stream);
    }
    stream->start(first);
    return stream;
  }

  task<void> close(time_point due) override {
    abandon();
    const bool none = co_await work_->wait_until_none(due);
    (void)none;
  }

  void abandon() noexcept override {
    if (closed_.exchange(true)) return;
    std::vector<std::weak_ptr<inside_stream>> streams;
    {
      const std::lock_guard lock(mutex_);
      streams.swap(streams_);
    }
    for (const auto& one : streams)
      if (const auto still = one.lock()) still->cancel();
    host_->end();
  }

  [[nodiscard]] deliver_from delivers_from() const noexcept override { return deliver_from::anywhere; }

 private:
  runtime& clock_;
  const std::shared_ptr<cloud_host> host_;
  const std::shared_ptr<pending_work> work_;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  std::vector<std::weak_ptr<inside_stream>> streams_;
};

} // namespace

std::shared_ptr<transport> make_in_process_transport(runtime& rt, std::shared_ptr<cloud_host> host) {
  host->begin(rt);
  return std::make_shared<in_process_transport>(rt, std::move(host));
}

} // namespace millrace::pubsub::detail
