// The engine: one thread owns the sequences, the KV blocks, the state slots and the model; everyone else
// talks to it through two queues. Several replies run at once (continuous batching); scheduler.h says in
// which order.
#pragma once

#include "engine/request.h"
#include "engine/token_stream.h"
#include "model/executor.h"

#include <memory>

namespace orfebre {

struct EngineOptions {
  int max_waiting = 64;             // requests queued beyond the running ones; more are refused (kOverloaded)
  double decode_gap_seconds = 1.5;  // while replies run, a prefill chunk should not take longer than this
  bool run_ahead = false;           // launch the next step before the last one's tokens are read: for devices
  int max_running = 0;              // replies at once; 0: as many as state slots allow
  bool prefix_cache = true;         // keep what was read in whatever memory is free
  int snapshot_stride = 1024;       // tokens of a long prompt between two states kept, at least
  int n_vocab = 0;  // ids at or above are never chosen nor taken; 0: the shape's whole vocabulary
};

// A moment's picture, for /metrics and /health.
struct EngineStats {
  int running = 0;
  int waiting = 0;
  int free_kv_blocks = 0;
  int total_kv_blocks = 0;
  int free_state_slots = 0;
  int total_state_slots = 0;
  int max_running = 0;                // sequences at once
  int cache_blocks = 0;               // KV blocks in the prefix cache, some of them in use by sequences too
  int cache_snapshots = 0;            // states in the prefix cache, a slot each
  uint64_t cache_bytes = 0;           // of both
  uint64_t prompt_tokens = 0;         // since start, as are all below
  uint64_t cached_prompt_tokens = 0;  // of those, taken from the prefix cache
  uint64_t cache_lookups = 0;         // requests admitted
  uint64_t cache_hits = 0;            // of those, that started from a cached prefix
  uint64_t cache_evictions = 0;       // snapshots given up for others or for requests
  uint64_t reply_tokens = 0;
  uint64_t finished = 0;  // replies that ended with kStop or kLength
  uint64_t cancelled = 0;
  uint64_t failed = 0;
  uint64_t preempted = 0;      // sequences sent back to the queue because KV blocks ran out
  double prefill_seconds = 0;  // spent in prefill steps
  double decode_seconds = 0;   // spent in decode steps
  bool healthy = true;         // false once the backend failed
};

class Engine {
 public:
  Engine(std::unique_ptr<Executor> executor, const EngineOptions& options);
  // Cancels everything and joins the thread.
  ~Engine();

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Thread-safe. Throws Error: kContextLength when the prompt leaves no room for one token, kInvalidRequest
  // for ids outside the vocabulary, an empty prompt or sampling out of range, kOverloaded when the queue is
  // full, kUnavailable when the engine is shutting down, kBackend after a device failure. The stream's events
  // arrive in order and end with one whose `finish` is set; the request's policy is gone before that one is
  // published.
  std::shared_ptr<TokenStream> submit(Request request);

  // Thread-safe.
  EngineStats stats() const;
  // Tokens that prompt and reply may have together: the model's limit, or the KV pool where that is smaller.
  int max_context() const;

  // Thread-safe. Refuses new requests, cancels running ones and waits until all streams have ended.
  void shut_down();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orfebre
