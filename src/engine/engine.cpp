#include "engine/engine.h"

#include "base/log.h"
#include "engine/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace orfebre {
namespace {

struct Arrival {
  Request request;
  std::shared_ptr<TokenStream> stream;
  double submitted_at;
};

void validate_request(const Request& request, int max_context, int n_vocab) {
  const auto require_ids = [n_vocab](const std::vector<int32_t>& ids, const char* what) {
    for (const int32_t id : ids) {
      if (id < 0 || id >= n_vocab) {
        fail(ErrorKind::kInvalidRequest, "{} must be token ids from 0 to {}, found {}", what, n_vocab - 1,
             id);
      }
    }
  };
  if (request.prompt.empty()) {
    fail(ErrorKind::kInvalidRequest, "the prompt must have at least one token, found none");
  }
  if (request.prompt.size() >= static_cast<size_t>(max_context)) {
    fail(ErrorKind::kContextLength,
         "the prompt's {} tokens leave no room for a reply: it exceeds the available context size, this "
         "engine's maximum context length is {} tokens; shorten the prompt or start the engine with a "
         "larger context",
         request.prompt.size(), max_context);
  }
  require_ids(request.prompt, "the prompt");
  require_ids(request.stop_ids, "stop ids");
  if (request.max_tokens < 0) {
    fail(ErrorKind::kInvalidRequest, "max_tokens must be 0 (no limit) or more, found {}", request.max_tokens);
  }
  if (request.n_top_logprobs < -1 || request.n_top_logprobs > kTopLogprobs) {
    fail(ErrorKind::kInvalidRequest, "top_logprobs must lie between 0 and {}, found {}", kTopLogprobs,
         request.n_top_logprobs);
  }
  validate(request.sampling, n_vocab);
}

}  // namespace

class Engine::Impl {
 public:
  Impl(std::unique_ptr<Executor> executor, const EngineOptions& options)
      : options_(options), executor_(std::move(executor)), scheduler_(*executor_, options) {
    stats_ = scheduler_.stats();
    thread_ = std::thread([this] { run(); });
  }

  int max_context() const { return scheduler_.max_context(); }

  std::shared_ptr<TokenStream> submit(Request request) {
    validate_request(request, scheduler_.max_context(), scheduler_.n_vocab());
    auto stream = std::make_shared<TokenStream>();
    {
      const std::lock_guard lock(mutex_);
      refuse_if_unable();
      live_.push_back(stream);
      inbox_.push_back({std::move(request), stream, steady_seconds()});
    }
    arrived_.notify_one();
    return stream;
  }

  EngineStats stats() const {
    const std::lock_guard lock(mutex_);
    EngineStats stats = stats_;
    stats.waiting += static_cast<int>(inbox_.size());
    return stats;
  }

  void shut_down() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (const auto& stream : live_) {
        stream->cancel();
      }
    }
    arrived_.notify_one();
    const std::lock_guard join_lock(join_mutex_);
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  void refuse_if_unable() const {
    if (failure_) {
      throw *failure_;
    }
    if (stopping_) {
      fail(ErrorKind::kUnavailable, "the engine is shutting down and takes no more requests");
    }
    const auto in_flight =
        std::count_if(live_.begin(), live_.end(), [](const auto& s) { return !s->ended(); });
    const int most = scheduler_.max_running() + options_.max_waiting;
    if (in_flight >= most) {
      fail(ErrorKind::kOverloaded, "at most {} requests may run or wait, found {}; try again later", most,
           in_flight);
    }
  }

  // The engine thread.
  void run() {
    try {
      while (take_arrivals()) {
        scheduler_.run_round();
        publish();
      }
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

  // Sleeps while there is nothing to do. False once shut down and empty.
  bool take_arrivals() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !inbox_.empty() || stopping_ || !scheduler_.idle(); });
    if (!inbox_.empty()) {
      enqueue_arrivals();
      take_stats();  // a round may take long, and they are to be seen waiting during it
    }
    return !(stopping_ && scheduler_.idle());
  }

  void enqueue_arrivals() {
    for (Arrival& arrival : inbox_) {
      scheduler_.enqueue(std::move(arrival.request), std::move(arrival.stream), arrival.submitted_at);
    }
    inbox_.clear();
  }

  // With the mutex held.
  void take_stats() {
    stats_ = scheduler_.stats();
    stats_.healthy = !failure_;
  }

  void publish() {
    const std::lock_guard lock(mutex_);
    take_stats();
    std::erase_if(live_, [](const auto& stream) { return stream->ended(); });
  }

  // After a failure of the executor nothing that it holds can be trusted: every request ends with an error.
  void give_up(const char* what) {
    const Error error(ErrorKind::kBackend, fmt::format("the backend failed and must be restarted: {}", what));
    log_error("{}", error.what());
    {
      const std::lock_guard lock(mutex_);
      failure_ = error;
      enqueue_arrivals();
    }
    scheduler_.fail_all(error);
    publish();
  }

  const EngineOptions options_;
  const std::unique_ptr<Executor> executor_;
  Scheduler scheduler_;  // the engine thread's, save its constants

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::vector<Arrival> inbox_;
  std::vector<std::shared_ptr<TokenStream>> live_;  // those that may not have ended
  EngineStats stats_;
  bool stopping_ = false;
  std::optional<Error> failure_;

  std::mutex join_mutex_;
  std::thread thread_;
};

Engine::Engine(std::unique_ptr<Executor> executor, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(std::move(executor), options)) {}

Engine::~Engine() {
  impl_->shut_down();
}

std::shared_ptr<TokenStream> Engine::submit(Request request) {
  return impl_->submit(std::move(request));
}

EngineStats Engine::stats() const {
  return impl_->stats();
}

int Engine::max_context() const {
  return impl_->max_context();
}

void Engine::shut_down() {
  impl_->shut_down();
}

}  // namespace orfebre
