// `orfebre verify`: a checkpoint held against published totals, against goldens of another engine, and
// against itself. Prints a line a check and can write a report to send in.
#include "base/error.h"
#include "base/log.h"
#include "cli/app/load_model.h"
#include "cli/app/model_dir.h"
#include "cli/commands.h"
#include "cli/system/processor_name.h"
#include "cli/system/signals.h"
#include "cli/system/system_memory.h"
#include "cli/version.h"
#include "text/chat_template.h"
#include "verify/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace orfebre::cli {
namespace {

constexpr int kReplyTokens = 24;          // of the checks of the model against itself
constexpr int kMaxPrompts = 4;            // of them
constexpr size_t kMaxPromptTokens = 600;  // of each: several blocks and a remainder
constexpr int kSmallestContext = 1024;
// What the checks run when there are no goldens.
constexpr std::string_view kOwnPrompts[] = {
    "A goldsmith works slowly. First the metal is weighed, then it is melted, poured, hammered and filed; "
    "what "
    "falls to the floor is swept up in the evening and weighed again, because nothing may be lost. How much "
    "gold "
    "is left when one gram in a hundred is swept up and half of that is found?",
    "1, 1, 2, 3, 5, 8, 13,",
    "What is the capital of France?",
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

const char* verdict(bool passed) {
  return passed ? "ok    " : "DIFFER";
}

std::vector<int32_t> encode_prompt(const text::Tokenizer& tokenizer, const Golden& golden) {
  if (!golden.chat) {
    return tokenizer.encode(golden.prompt);
  }
  const text::Message message = text::text_message("user", golden.prompt);
  return tokenizer.encode(text::render_chat({&message, 1}, {}, {}));
}

std::vector<GoldenResult> open_goldens(const std::string& directory, const text::Tokenizer& tokenizer,
                                       const ShapeInfo& shape) {
  std::vector<GoldenResult> results;
  if (directory.empty()) {
    return results;
  }
  for (Golden& golden : read_goldens(directory, shape.vocab)) {
    GoldenResult result;
    result.prompt = compare_prompt(golden, encode_prompt(tokenizer, golden));
    result.golden = std::move(golden);
    results.push_back(std::move(result));
  }
  return results;
}

ConsistencyInput consistency_input(const std::vector<GoldenResult>& goldens,
                                   const text::Tokenizer& tokenizer) {
  ConsistencyInput input;
  input.reply_tokens = kReplyTokens;
  input.n_vocab = tokenizer.vocab_size();
  input.cancel = &stop_requested();
  for (const GoldenResult& result : goldens) {
    input.prompts.push_back(result.golden.prompt_ids);
  }
  if (goldens.empty()) {
    for (const std::string_view text : kOwnPrompts) {
      input.prompts.push_back(tokenizer.encode_plain(text));
    }
  }
  for (std::vector<int32_t>& prompt : input.prompts) {
    prompt.resize(std::min(prompt.size(), kMaxPromptTokens));
  }
  // The longest first: the checks of one prompt take it.
  std::stable_sort(input.prompts.begin(), input.prompts.end(),
                   [](const auto& left, const auto& right) { return left.size() > right.size(); });
  input.prompts.resize(std::min<size_t>(input.prompts.size(), kMaxPrompts));
  return input;
}

int context_needed(const std::vector<GoldenResult>& goldens, const ConsistencyInput& input) {
  int context = kSmallestContext;
  for (const GoldenResult& result : goldens) {
    context = std::max(context, result.golden.total_tokens());
  }
  int together = 0;  // prompts that run at once share the KV blocks
  for (const std::vector<int32_t>& prompt : input.prompts) {
    together +=
        (static_cast<int>(prompt.size()) + 2 * kReplyTokens + kBlockTokens) / kBlockTokens * kBlockTokens;
  }
  context = std::max(context, together);
  return (context + kBlockTokens - 1) / kBlockTokens * kBlockTokens;
}

void print_totals(const VerifyReport& report) {
  const TensorTotals& totals = report.totals;
  fmt::print("{}\n", report.model);
  fmt::print("  {} tensors in {} file{}, {}\n", totals.n_tensors, totals.n_files,
             totals.n_files == 1 ? "" : "s", format_bytes(totals.tensor_bytes));
  fmt::print("  {} of them the text model's, {} bytes; the public 4-bit layout has {} and {}: {}\n",
             totals.n_text_tensors, totals.text_bytes, totals.public_text_tensors, totals.public_text_bytes,
             totals.is_public_layout() ? "the same" : "another quantisation or convention");
  fmt::print("  {}, loaded in {:.1f} s\n", report.backend, report.load_seconds);
}

void print_golden(const GoldenResult& result) {
  const Golden& golden = result.golden;
  const std::string first = result.prompt.first_difference
                                ? fmt::format(", first difference at {}", *result.prompt.first_difference)
                                : "";
  fmt::print("{} {}: {} prompt ids{}{}\n", verdict(result.prompt_passed()), golden.name, result.prompt.n_ids,
             golden.chat ? " in the template" : "", first);
  const GoldenComparison& c = result.comparison;
  const std::string divergence =
      c.first_divergence() ? fmt::format(", first divergence at step {}", *c.first_divergence()) : "";
  fmt::print("{} {}: top-1 {} of {}, decided {} of {}{}; KL mean {:.2g}, largest {:.2g} nats; {:.1f} s\n",
             verdict(result.steps_passed()), golden.name, c.n_same(), c.steps.size(), c.n_decided_same(),
             c.n_decided(), divergence, c.mean_kl(), c.max_kl(), result.seconds);
  std::fflush(stdout);
}

void print_check(const ConsistencyCheck& check) {
  const std::string difference =
      check.same_bits ? "in every bit" : fmt::format("largest difference {:.2g}", check.largest_difference);
  fmt::print("{} {}: {}, {}\n", verdict(check.same), check.name,
             check.same ? "the same tokens" : "other tokens", difference);
  std::fflush(stdout);
}

void append(std::vector<ConsistencyCheck>& all, const std::vector<ConsistencyCheck>& checks) {
  for (const ConsistencyCheck& check : checks) {
    print_check(check);
    all.push_back(check);
  }
}

void run_goldens(Model& model, std::vector<GoldenResult>& goldens) {
  for (GoldenResult& result : goldens) {
    const auto start = std::chrono::steady_clock::now();
    result.comparison = compare_golden(model, result.golden, &stop_requested());
    result.seconds = seconds_since(start);
    print_golden(result);
  }
}

// Opened before the work, so that a wrong path is not found out after an hour.
std::ofstream open_report(const std::string& path) {
  std::ofstream file;
  if (!path.empty()) {
    file.open(path, std::ios::binary | std::ios::trunc);
    if (!file) {
      fail(ErrorKind::kNotFound, "{}: cannot write the report there", path);
    }
  }
  return file;
}

void write_report(std::ofstream& file, const VerifyCommand& command, const VerifyReport& report) {
  if (command.report.empty()) {
    return;
  }
  file << to_json(report, command.with_prompts);
  file.close();
  if (!file) {
    fail(ErrorKind::kInternal, "{}: writing the report failed; is the disk full?", command.report);
  }
  fmt::print("report written to {}\n", command.report);
}

}  // namespace

int run_command(const VerifyCommand& command) {
  set_log_level(LogLevel::kWarning);
  catch_stop_signals();
  OpenedModel opened = open_model(command.model);
  const text::Tokenizer tokenizer = load_tokenizer(opened.directory);
  std::vector<GoldenResult> goldens = open_goldens(command.golden, tokenizer, opened.checkpoint->shape());
  const ConsistencyInput input = consistency_input(goldens, tokenizer);
  std::ofstream report_file = open_report(command.report);

  ModelOptions options = command.model;
  options.parallel = static_cast<int>(input.prompts.size());
  options.context_tokens = context_needed(goldens, input);
  const MemoryChoice memory = choose_memory(opened.memory_needs(options), options);
  VerifyReport report;
  report.program = kVersion;
  report.model = model_dir_name(opened.directory);
  report.shape = opened.checkpoint->shape().name;
  report.backend = opened.backend->info().name;
  report.processor = processor_name();
  report.totals = count_tensors(*opened.checkpoint);
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Model> model = load_weights_with_progress(opened, memory);
  report.load_seconds = seconds_since(start);
  print_totals(report);

  run_goldens(*model, goldens);
  report.goldens = std::move(goldens);
  append(report.consistency, check_prefill(*model, input));
  const Replies expected = greedy_replies(*model, input);
  EngineOptions engine_options;
  engine_options.n_vocab = input.n_vocab;
  Engine engine(std::move(model), engine_options);
  append(report.consistency, check_engine(engine, input, expected));

  write_report(report_file, command, report);
  fmt::print("{}\n",
             report.passed() ? "everything agrees" : "something differs: see the lines marked DIFFER");
  return report.passed() ? 0 : 1;
}

}  // namespace orfebre::cli
