#include "cli/app/load_model.h"

#include "base/error.h"
#include "base/log.h"
#include "cli/app/model_dir.h"
#include "cli/system/progress.h"
#include "cli/system/signals.h"
#include "cli/system/system_memory.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace orfebre::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLoaderThreads = 8;                // more do not read faster
constexpr uint64_t kLoaderThreadBytes = 8'000'000;  // a part of a matrix, and what quantising it takes
constexpr uint64_t kProgramBytes = 128'000'000;     // of which half for the bodies of HTTP requests
constexpr uint64_t kTokenizerBytesPerFileByte = 12;

int loader_threads() {
  // Two more than cores: what is not in the page cache is waited for.
  return std::min(static_cast<int>(std::thread::hardware_concurrency()) + 2, kMaxLoaderThreads);
}

std::string tokenizer_path(const std::string& directory) {
  return (fs::path(directory) / "tokenizer.json").string();
}

// Everything that the model's own plan does not count.
uint64_t program_bytes(const std::string& directory) {
  std::error_code error;
  const auto file_bytes = fs::file_size(tokenizer_path(directory), error);
  return kProgramBytes + (error ? 0 : static_cast<uint64_t>(file_bytes) * kTokenizerBytesPerFileByte) +
         static_cast<uint64_t>(loader_threads()) * kLoaderThreadBytes;
}

// generation_config.json speaks of the thinking mode of the real model, and the model card of the other mode
// and of what the file leaves out. A small model has one setting for both.
SamplingDefaults sampling_defaults(const GenerationConfig& generation, ShapeId shape) {
  SamplingDefaults defaults;
  if (shape != ShapeId::kQwen36) {
    defaults.thinking = SamplingParams{};
  }
  SamplingParams& params = defaults.thinking;
  if (generation.temperature) params.temperature = static_cast<float>(*generation.temperature);
  if (generation.top_p) params.top_p = static_cast<float>(*generation.top_p);
  if (generation.top_k) params.top_k = *generation.top_k;
  if (generation.min_p) params.min_p = static_cast<float>(*generation.min_p);
  if (generation.repetition_penalty)
    params.repetition_penalty = static_cast<float>(*generation.repetition_penalty);
  if (generation.presence_penalty) params.presence_penalty = static_cast<float>(*generation.presence_penalty);
  if (generation.do_sample == false) params.temperature = 0;
  if (shape != ShapeId::kQwen36) {
    defaults.direct = defaults.thinking;
  }
  return defaults;
}

}  // namespace

MemoryNeeds OpenedModel::memory_needs(const ModelOptions& options) const {
  const uint64_t usable = options.memory_gib > 0 ? static_cast<uint64_t>(options.memory_gib * 1073741824.0)
                                                 : usable_memory_bytes();
  return {*backend, *checkpoint, checkpoint->config().max_context, program_bytes(directory), usable};
}

OpenedModel open_model(const ModelOptions& options) {
  OpenedModel opened;
  opened.directory = resolve_model_dir(options.model);
  const ModelConfig config = read_model_config(opened.directory);
  opened.backend = make_backend(options.backend, config.shape.id, {options.threads, options.cpu_path});
  opened.checkpoint = std::make_unique<Checkpoint>(
      opened.directory,
      CheckpointOptions{.quantize_dense = !opened.backend->info().takes_dense,
                        .page_cache = options.stream_experts ? PageCache::kBypass : PageCache::kUse});
  opened.generation = read_generation_config(opened.directory, config);
  return opened;
}

std::unique_ptr<Model> load_weights_with_progress(OpenedModel& opened, const MemoryChoice& memory) {
  ProgressBar bar("loading");
  LoadOptions options;
  options.threads = loader_threads();
  options.expert_budget_bytes = memory.plan.expert_bytes;
  options.progress = [&bar](uint64_t done, uint64_t total) { bar.update(done, total); };
  options.cancel = &stop_requested();
  return std::make_unique<Model>(std::move(opened.backend), *opened.checkpoint, memory.limits, options);
}

text::Tokenizer load_tokenizer(const std::string& directory) {
  return text::Tokenizer::from_file(tokenizer_path(directory));
}

LoadedModel load_model(const ModelOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  OpenedModel opened = open_model(options);
  LoadedModel loaded;
  loaded.directory = opened.directory;
  loaded.memory = choose_memory(opened.memory_needs(options), options);
  loaded.backend_name = opened.backend->info().name;
  loaded.sampling = sampling_defaults(opened.generation, opened.checkpoint->shape().id);
  loaded.stop_ids.assign(opened.generation.eos_ids.begin(), opened.generation.eos_ids.end());
  loaded.model_context = opened.checkpoint->config().max_context;
  log_info("memory: {}", describe(loaded.memory));
  loaded.tokenizer = std::make_unique<text::Tokenizer>(load_tokenizer(opened.directory));
  EngineOptions engine_options;
  engine_options.n_vocab = loaded.tokenizer->vocab_size();
  engine_options.max_running = options.parallel;
  engine_options.prefix_cache = options.cache_gib != 0;
  if (engine_options.n_vocab > opened.checkpoint->shape().vocab) {
    fail(ErrorKind::kBadCheckpoint,
         "{}: the tokenizer has {} tokens, the model only {}; they do not belong together", opened.directory,
         engine_options.n_vocab, opened.checkpoint->shape().vocab);
  }
  loaded.engine = std::make_unique<Engine>(load_weights_with_progress(opened, loaded.memory), engine_options);
  loaded.checkpoint = std::move(opened.checkpoint);
  loaded.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loaded;
}

}  // namespace orfebre::cli
