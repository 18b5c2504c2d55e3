// `orfebre bench`: prefill and decode speed, memory traffic, and its share of the read bandwidth measured in
// the same run: the model itself, without engine and server. With --cache what the prefix cache saves and
// costs.
#include "cli/app/bench_runner.h"

#include "base/error.h"
#include "base/log.h"
#include "cli/app/cache_bench.h"
#include "cli/app/load_model.h"
#include "cli/app/model_dir.h"
#include "cli/commands.h"
#include "cli/system/processor_name.h"
#include "cli/system/read_bandwidth.h"
#include "cli/system/signals.h"
#include "cli/system/system_memory.h"
#include "cli/version.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace orfebre::cli {
namespace {

// Tokens or bytes a second over the repetitions.
struct Rate {
  double median = 0;
  double low = 0;
  double high = 0;
};

struct BenchRow {
  BenchShape shape;
  Rate prefill;           // tokens a second
  Rate decode;            // tokens a second, all sequences together
  double step_bytes = 0;  // of a decode step, in the middle of the measured tokens
  double bytes_per_second() const { return step_bytes * decode.median / shape.sequences; }
};

struct BenchReport {
  std::string model;
  std::string backend;
  std::string processor;
  int repeat = 0;
  double read_bandwidth = 0;  // bytes a second
  double load_seconds = 0;
  std::vector<BenchRow> rows;
};

Rate rate_of(double amount, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  if (seconds.front() <= 0) {
    return {};
  }
  return {amount / seconds[seconds.size() / 2], amount / seconds.back(), amount / seconds.front()};
}

// Bytes of the weights that every decode step reads, and of all routed experts.
struct WeightBytes {
  uint64_t dense = 0;
  uint64_t experts = 0;
};

WeightBytes weight_bytes(const OpenedModel& opened) {
  WeightBytes bytes;
  for (const MatrixSpec& spec : matrix_specs(opened.checkpoint->shape())) {
    if (spec.role == MatrixRole::kEmbedding) {
      continue;  // one row a token
    }
    const uint64_t n_bytes = opened.backend->matrix_bytes(spec, opened.checkpoint->matrix_bits(spec));
    (spec.n_matrices > 1 ? bytes.experts : bytes.dense) += n_bytes;
  }
  return bytes;
}

std::vector<BenchShape> shapes_of(const BenchCommand& command, int max_context) {
  std::vector<BenchShape> shapes;
  for (const int context : command.contexts) {
    BenchShape shape{context, command.prefill_tokens, command.decode_tokens, command.sequences};
    if (context + shape.prefill_tokens == 0) {
      shape.prefill_tokens = 1;  // a decode goes on from some token
    }
    if (int64_t{context} + shape.prefill_tokens + shape.decode_tokens > max_context) {
      fail(ErrorKind::kInvalidRequest,
           "bench: --context {} + --prefill {} + --decode {} is more than the model's {}", context,
           shape.prefill_tokens, shape.decode_tokens, max_context);
    }
    shapes.push_back(shape);
  }
  return shapes;
}

BenchRow measure(BenchRunner& runner, const BenchShape& shape, int repeat) {
  BenchRow row;
  row.shape = shape;
  std::vector<double> prefill;
  std::vector<double> decode;
  for (const BenchTimes& times : runner.run(shape, repeat)) {
    prefill.push_back(times.prefill_seconds);
    decode.push_back(times.decode_seconds);
  }
  row.prefill = rate_of(static_cast<double>(shape.prefill_tokens) * shape.sequences, prefill);
  row.decode = rate_of(static_cast<double>(shape.decode_tokens) * shape.sequences, decode);
  return row;
}

void print_table(const BenchReport& report) {
  fmt::print("{} on {}, {}\n", report.model, report.backend, report.processor);
  fmt::print(
      "loaded in {:.1f} s; read bandwidth {:.1f} GB/s; medians of {}, lowest and highest in brackets\n\n",
      report.load_seconds, report.read_bandwidth * 1e-9, report.repeat);
  fmt::print("{:>8} {:>5} {:>28} {:>26} {:>10} {:>8} {:>8}\n", "context", "seqs", "prefill tok/s",
             "decode tok/s", "ms a step", "GB/s", "share");
  for (const BenchRow& row : report.rows) {
    const double step_ms = row.decode.median > 0 ? 1e3 * row.shape.sequences / row.decode.median : 0;
    fmt::print("{:>8} {:>5} {:>28} {:>26} {:>10.2f} {:>8.2f} {:>6.1f} %\n", row.shape.context,
               row.shape.sequences,
               fmt::format("{:.1f} [{:.1f}, {:.1f}]", row.prefill.median, row.prefill.low, row.prefill.high),
               fmt::format("{:.1f} [{:.1f}, {:.1f}]", row.decode.median, row.decode.low, row.decode.high),
               step_ms, row.bytes_per_second() * 1e-9, 100 * row.bytes_per_second() / report.read_bandwidth);
  }
}

nlohmann::json to_json(const Rate& rate) {
  return {{"median", rate.median}, {"low", rate.low}, {"high", rate.high}};
}

void print_json(const BenchReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const BenchRow& row : report.rows) {
    rows.push_back({{"context_tokens", row.shape.context},
                    {"sequences", row.shape.sequences},
                    {"prefill_tokens", row.shape.prefill_tokens},
                    {"decode_tokens", row.shape.decode_tokens},
                    {"prefill_tokens_per_second", to_json(row.prefill)},
                    {"decode_tokens_per_second", to_json(row.decode)},
                    {"decode_step_bytes", row.step_bytes},
                    {"decode_bytes_per_second", row.bytes_per_second()},
                    {"share_of_read_bandwidth", row.bytes_per_second() / report.read_bandwidth}});
  }
  const nlohmann::json document = {{"version", kVersion},
                                   {"model", report.model},
                                   {"backend", report.backend},
                                   {"processor", report.processor},
                                   {"repeat", report.repeat},
                                   {"read_bytes_per_second", report.read_bandwidth},
                                   {"load_seconds", report.load_seconds},
                                   {"measurements", rows}};
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_cache_table(const CacheBenchReport& report) {
  fmt::print("{:<20} {:>8} {:>8} {:>8} {:>12} {:>12}\n", "prompt", "tokens", "new", "read", "seconds",
             "of the cold");
  for (const CacheBenchRow& row : report.rows) {
    fmt::print("{:<20} {:>8} {:>8} {:>8} {:>12.4f} {:>10.1f} %\n", row.what, row.prompt_tokens,
               row.new_tokens, row.read_tokens, row.seconds, 100 * row.seconds / report.rows.front().seconds);
  }
  fmt::print("\nkeeping states makes a cold prefill {:+.1f} % longer, a reply {:+.1f} %\n",
             100 * report.prefill_cost, 100 * report.decode_cost);
}

void print_cache_json(const CacheBenchReport& report, const std::string& backend) {
  nlohmann::json rows = nlohmann::json::array();
  for (const CacheBenchRow& row : report.rows) {
    rows.push_back({{"prompt", row.what},
                    {"prompt_tokens", row.prompt_tokens},
                    {"new_tokens", row.new_tokens},
                    {"read_tokens", row.read_tokens},
                    {"seconds", row.seconds}});
  }
  const nlohmann::json document = {{"version", kVersion},
                                   {"backend", backend},
                                   {"prompts", rows},
                                   {"prefill_cost", report.prefill_cost},
                                   {"decode_cost", report.decode_cost}};
  fmt::print("{}\n", document.dump(2));
}

int bench_cache(const BenchCommand& command, OpenedModel& opened) {
  const std::string backend = opened.backend->info().name;
  const StepLimits limits =
      cache_bench_limits(command.cache_prompt_tokens, opened.checkpoint->config().max_context);
  const MemoryChoice memory = choose_memory(opened.memory_needs(command.model), command.model, limits);
  const std::unique_ptr<Model> model = load_weights_with_progress(opened, memory);
  const CacheBenchReport report = run_cache_bench(*model, command.cache_prompt_tokens, command.repeat);
  command.json ? print_cache_json(report, backend) : print_cache_table(report);
  return 0;
}

}  // namespace

int run_command(const BenchCommand& command) {
  set_log_level(LogLevel::kWarning);
  catch_stop_signals();
  OpenedModel opened = open_model(command.model);
  if (command.cache_prompt_tokens > 0) {
    return bench_cache(command, opened);
  }
  const std::vector<BenchShape> shapes = shapes_of(command, opened.checkpoint->config().max_context);
  const MemoryChoice memory =
      choose_memory(opened.memory_needs(command.model), command.model, bench_limits(shapes));

  BenchReport report;
  report.model = model_dir_name(opened.directory);
  report.backend = opened.backend->info().name;
  report.processor = processor_name();
  report.repeat = command.repeat;
  const int n_threads = command.model.threads > 0 ? command.model.threads
                                                  : static_cast<int>(std::thread::hardware_concurrency());
  report.read_bandwidth = measure_read_bandwidth(std::max(1, n_threads));

  const BackendInfo info = opened.backend->info();
  const WeightBytes weights = weight_bytes(opened);
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<Model> model = load_weights_with_progress(opened, memory);
  report.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  BenchRunner runner(*model);
  for (const BenchShape& shape : shapes) {
    BenchRow row = measure(runner, shape, command.repeat);
    const int middle = shape.context + shape.prefill_tokens + shape.decode_tokens / 2;
    row.step_bytes =
        decode_step_bytes(model->shape(), weights.dense, weights.experts, info, shape.sequences, middle);
    report.rows.push_back(row);
  }
  command.json ? print_json(report) : print_table(report);
  return 0;
}

}  // namespace orfebre::cli
