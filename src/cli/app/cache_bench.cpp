#include "cli/app/cache_bench.h"

#include "base/error.h"
#include "cli/app/memory_choice.h"
#include "cli/system/signals.h"
#include "engine/scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>

namespace orfebre::cli {
namespace {

constexpr int kTurns = 6;
constexpr int kMessageTokens = 100;
constexpr int kReplyTokens = 128;  // two states kept
constexpr int kSnapshots = 24;

using Ids = std::vector<int32_t>;

struct Answer {
  Ids reply;
  Usage usage;
};

class CacheBench {
 public:
  explicit CacheBench(Model& model) : model_(model) {}

  Ids words(int n) {
    std::uniform_int_distribution<int32_t> any(0, model_.shape().vocab - 1);
    Ids ids(static_cast<size_t>(n));
    std::generate(ids.begin(), ids.end(), [&] { return any(random_); });
    return ids;
  }

  // `message_ends` as Request::snapshot_at.
  Answer ask(Scheduler& scheduler, const Ids& prompt, const std::vector<int>& message_ends, int max_tokens) {
    Request request;
    request.prompt = prompt;
    request.snapshot_at = message_ends;
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;
    const auto stream = std::make_shared<TokenStream>();
    scheduler.enqueue(std::move(request), stream, steady_seconds());
    Answer answer;
    while (!scheduler.idle()) {
      if (stop_requested().load()) {
        fail(ErrorKind::kInternal, "stopped by a signal");
      }
      scheduler.run_round();
    }
    while (const auto event = stream->try_next()) {
      if (event->error) {
        throw *event->error;
      }
      if (event->id >= 0) {
        answer.reply.push_back(event->id);
      }
      answer.usage = event->usage;
    }
    return answer;
  }

  Model& model() { return model_; }

 private:
  Model& model_;
  std::mt19937 random_{1};
};

Ids joined(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

CacheBenchRow row_of(const std::string& what, const Ids& prompt, int new_tokens, const Answer& answer) {
  const auto n_prompt = static_cast<int>(prompt.size());
  return {what, n_prompt, new_tokens, n_prompt - answer.usage.cached_tokens, answer.usage.prefill_seconds};
}

void measure_savings(CacheBench& bench, int prompt_tokens, CacheBenchReport& report) {
  Scheduler scheduler(bench.model(), {.max_running = 1});
  const Ids system = bench.words(prompt_tokens - kMessageTokens);
  const std::vector<int> ends = {prompt_tokens - kMessageTokens};
  Ids prompt = joined(system, bench.words(kMessageTokens));
  report.rows.push_back(row_of("cold", prompt, prompt_tokens, bench.ask(scheduler, prompt, ends, 1)));
  report.rows.push_back(row_of("the same again", prompt, 0, bench.ask(scheduler, prompt, ends, 1)));
  const Ids sibling = joined(system, bench.words(kMessageTokens));
  report.rows.push_back(
      row_of("same system message", sibling, kMessageTokens, bench.ask(scheduler, sibling, ends, 1)));
  int n_known = prompt_tokens;
  for (int turn = 1; turn <= kTurns; ++turn) {
    const Answer answer = bench.ask(scheduler, prompt, {n_known}, kReplyTokens);
    report.rows.push_back(
        row_of(fmt::format("turn {}", turn), prompt, static_cast<int>(prompt.size()) - n_known, answer));
    prompt = joined(prompt, answer.reply);
    n_known = static_cast<int>(prompt.size());
    prompt = joined(prompt, bench.words(kMessageTokens));
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// With the cache and without, in turn, on a prompt that nobody knows.
void measure_costs(CacheBench& bench, int prompt_tokens, int repeat, CacheBenchReport& report) {
  std::vector<double> prefill[2];
  std::vector<double> decode[2];
  for (int i = 0; i < 2 * repeat; ++i) {
    const bool cache = i % 2 == 1;
    Scheduler scheduler(bench.model(), {.max_running = 1, .prefix_cache = cache});
    const Ids prompt = bench.words(prompt_tokens);
    const Answer answer =
        bench.ask(scheduler, prompt, {prompt_tokens - kMessageTokens, prompt_tokens - 5}, 1 + kReplyTokens);
    prefill[cache].push_back(answer.usage.prefill_seconds);
    decode[cache].push_back(answer.usage.decode_seconds);
  }
  report.prefill_cost = median(prefill[1]) / median(prefill[0]) - 1;
  report.decode_cost = median(decode[1]) / median(decode[0]) - 1;
}

}  // namespace

StepLimits cache_bench_limits(int prompt_tokens, int max_context) {
  const int longest = prompt_tokens + (kTurns + 1) * (kMessageTokens + kReplyTokens);
  if (prompt_tokens < 2 * kMessageTokens || longest > max_context) {
    fail(ErrorKind::kInvalidRequest, "bench: --cache takes a prompt of {} to {} tokens, found {}",
         2 * kMessageTokens, max_context - (longest - prompt_tokens), prompt_tokens);
  }
  StepLimits limits;
  limits.max_context = longest;
  limits.max_prefill_rows = kPrefillRows;
  limits.n_kv_blocks = 2 * blocks_for(longest) + 8;
  limits.n_state_slots = kSlotsPerSequence + kSnapshots;
  return limits;
}

CacheBenchReport run_cache_bench(Model& model, int prompt_tokens, int repeat) {
  CacheBench bench(model);
  CacheBenchReport report;
  measure_savings(bench, prompt_tokens, report);
  measure_costs(bench, prompt_tokens, repeat, report);
  return report;
}

}  // namespace orfebre::cli
