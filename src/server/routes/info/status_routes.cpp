// GET /health (no key needed; 200 once the engine has made a token), GET /metrics (Prometheus text) and GET /
// (for people and probes). Counts only: nothing here depends on what was said.
#include "server/api/json_writer.h"
#include "server/routes/handlers.h"

#include <fmt/format.h>

#include <iterator>

namespace orfebre {
namespace {

struct Metric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  double value;
};

}  // namespace

void handle_health(const RouteCall& call) {
  const EngineStats stats = call.state.context.engine.stats();
  const bool is_ok = stats.healthy && call.state.ready;
  api::JsonWriter json;
  json.begin_object().key("status").string(is_ok ? "ok" : stats.healthy ? "starting" : "failed");
  json.key("model").string(call.state.context.model_name);
  json.key("running").integer(stats.running).key("waiting").integer(stats.waiting);
  call.send(json.end_object().take(), is_ok ? 200 : 503);
}

void handle_metrics(const RouteCall& call) {
  const EngineStats stats = call.state.context.engine.stats();
  const http::HttpStats http = call.state.http_stats();
  const auto count = [](uint64_t value) { return static_cast<double>(value); };
  const Metric metrics[] = {
      {"requests_running", "gauge", "Replies in progress", static_cast<double>(stats.running)},
      {"requests_waiting", "gauge", "Requests in the queue", static_cast<double>(stats.waiting)},
      {"requests_running_most", "gauge", "Replies that can be in progress at once",
       static_cast<double>(stats.max_running)},
      {"kv_blocks_free", "gauge", "KV cache blocks without an owner",
       static_cast<double>(stats.free_kv_blocks)},
      {"kv_blocks_total", "gauge", "KV cache blocks", static_cast<double>(stats.total_kv_blocks)},
      {"prompt_tokens_total", "counter", "Prompt tokens", count(stats.prompt_tokens)},
      {"reply_tokens_total", "counter", "Reply tokens", count(stats.reply_tokens)},
      {"requests_finished_total", "counter", "Replies that ended by themselves", count(stats.finished)},
      {"requests_cancelled_total", "counter", "Replies whose client left", count(stats.cancelled)},
      {"requests_failed_total", "counter", "Replies that ended with an error", count(stats.failed)},
      {"requests_preempted_total", "counter", "Replies sent back to the queue for want of memory",
       count(stats.preempted)},
      {"prefill_seconds_total", "counter", "Time spent on reading prompts", stats.prefill_seconds},
      {"decode_seconds_total", "counter", "Time spent on making tokens", stats.decode_seconds},
      {"prompt_tokens_cached_total", "counter", "Prompt tokens taken from the prefix cache",
       count(stats.cached_prompt_tokens)},
      {"prefix_cache_hit_ratio", "gauge", "Share of all prompt tokens taken from the prefix cache",
       stats.prompt_tokens > 0 ? count(stats.cached_prompt_tokens) / count(stats.prompt_tokens) : 0},
      {"prefix_cache_lookups_total", "counter", "Requests that looked for a cached prefix",
       count(stats.cache_lookups)},
      {"prefix_cache_hits_total", "counter", "Requests that found one", count(stats.cache_hits)},
      {"prefix_cache_bytes", "gauge", "Bytes in the prefix cache", count(stats.cache_bytes)},
      {"prefix_cache_kv_blocks", "gauge", "KV cache blocks in the prefix cache",
       static_cast<double>(stats.cache_blocks)},
      {"prefix_cache_snapshots", "gauge", "States in the prefix cache",
       static_cast<double>(stats.cache_snapshots)},
      {"prefix_cache_evictions_total", "counter", "States given up for others or for requests",
       count(stats.cache_evictions)},
      {"http_connections", "gauge", "Open connections", static_cast<double>(http.connections)},
      {"http_connections_accepted_total", "counter", "Connections accepted", count(http.accepted)},
      {"http_connections_refused_total", "counter", "Connections over the limit", count(http.refused)},
  };
  std::string text;
  for (const Metric& metric : metrics) {
    fmt::format_to(std::back_inserter(text),
                   "# HELP orfebre_{0} {2}.\n# TYPE orfebre_{0} {1}\norfebre_{0} {3}\n", metric.name,
                   metric.type, metric.help, metric.value);
  }
  const Latencies& latencies = *call.state.latencies;
  latencies.queue_seconds.append_text(text, "queue_seconds", "Time that a request waited");
  latencies.first_token_seconds.append_text(text, "first_token_seconds",
                                            "Time from a request to its first token");
  latencies.token_seconds.append_text(text, "token_seconds",
                                      "Time between tokens, on the average over a reply");
  latencies.reply_seconds.append_text(text, "reply_seconds", "Time from a request to the end of its reply");
  call.send(std::move(text), 200, "text/plain; version=0.0.4; charset=utf-8");
}

void handle_root(const RouteCall& call) {
  api::JsonWriter json;
  json.begin_object().key("name").string("Orfebre").key("model").string(call.state.context.model_name);
  json.key("endpoints").begin_array();
  for (const std::string& name : route_names()) {
    json.string(name);
  }
  call.send(json.end_array().end_object().take());
}

}  // namespace orfebre
