// The engine: one thread owns the sequences, the KV blocks, the state slots and the model; everyone else
// talks to it through two queues. Several replies run at once (continuous batching).
#pragma once

#include "engine/request.h"
#include "engine/token_stream.h"
#include "model/executor.h"

#include <memory>

namespace orfebre {

struct EngineOptions {
  int max_waiting = 64;              // requests queued beyond the running ones; more are refused (kOverloaded)
  double decode_gap_seconds = 1.5;   // while replies run, a prefill chunk should not take longer than this
};

// A moment's picture, for /metrics and /health.
struct EngineStats {
  int running = 0;
  int waiting = 0;
  int free_kv_blocks = 0;
  int total_kv_blocks = 0;
  uint64_t prompt_tokens = 0;   // since start
  uint64_t reply_tokens = 0;    // since start
  uint64_t finished = 0;
  uint64_t cancelled = 0;
  uint64_t failed = 0;
  bool healthy = true;          // false once the backend failed
};

class Engine {
 public:
  Engine(std::unique_ptr<Executor> executor, const EngineOptions& options);
  // Cancels everything and joins the thread.
  ~Engine();

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Thread-safe. Throws Error: kContextLength when the prompt leaves no room for one token, kInvalidRequest
  // for ids outside the vocabulary or an empty prompt, kOverloaded when the queue is full, kBackend after a
  // device failure. The stream's events arrive in order and end with one whose `finish` is set.
  std::shared_ptr<TokenStream> submit(Request request);

  EngineStats stats() const;
  int max_context() const;

  // Refuses new requests, cancels running ones and waits until all streams have ended.
  void shut_down();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orfebre
