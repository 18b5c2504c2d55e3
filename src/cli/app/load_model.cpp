#include "cli/app/load_model.h"

#include "base/error.h"
#include "base/log.h"
#include "cli/app/model_dir.h"
#include "cli/system/progress.h"
#include "cli/system/signals.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace orfebre::cli {
namespace {

namespace fs = std::filesystem;

// Loader threads hold one tensor each; more than this only adds memory.
constexpr int kMaxLoaderThreads = 8;
constexpr uint64_t kProgramBytes = 128'000'000;  // of which half for the bodies of HTTP requests
constexpr uint64_t kTokenizerBytesPerFileByte = 12;

int loader_threads() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxLoaderThreads);
}

std::string tokenizer_path(const std::string& directory) {
  return (fs::path(directory) / "tokenizer.json").string();
}

uint64_t largest_matrix_bytes(const Checkpoint& checkpoint) {
  uint64_t largest = 0;
  for (const MatrixSpec& spec : matrix_specs(checkpoint.shape())) {
    largest = std::max(largest, stored_bytes(spec, checkpoint.matrix_bits(spec)));
  }
  return largest;
}

// Everything that the model's own plan does not count.
uint64_t program_bytes(const std::string& directory, const Checkpoint& checkpoint) {
  std::error_code error;
  const auto file_bytes = fs::file_size(tokenizer_path(directory), error);
  return kProgramBytes + (error ? 0 : static_cast<uint64_t>(file_bytes) * kTokenizerBytesPerFileByte) +
         static_cast<uint64_t>(loader_threads()) * largest_matrix_bytes(checkpoint);
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

MemoryNeeds OpenedModel::memory_needs() const {
  return {*backend, *checkpoint, checkpoint->config().max_context, program_bytes(directory, *checkpoint)};
}

OpenedModel open_model(const ModelOptions& options) {
  OpenedModel opened;
  opened.directory = resolve_model_dir(options.model);
  const ModelConfig config = read_model_config(opened.directory);
  opened.backend = make_backend(options.backend, config.shape.id, {options.threads, options.cpu_path});
  opened.checkpoint = std::make_unique<Checkpoint>(
      opened.directory, CheckpointOptions{.quantize_dense = !opened.backend->info().takes_dense});
  opened.generation = read_generation_config(opened.directory, config);
  return opened;
}

std::unique_ptr<Model> load_weights_with_progress(OpenedModel& opened, const StepLimits& limits) {
  ProgressBar bar("loading");
  LoadOptions options;
  options.threads = loader_threads();
  options.progress = [&bar](uint64_t done, uint64_t total) { bar.update(done, total); };
  options.cancel = &stop_requested();
  return std::make_unique<Model>(std::move(opened.backend), *opened.checkpoint, limits, options);
}

text::Tokenizer load_tokenizer(const std::string& directory) {
  return text::Tokenizer::from_file(tokenizer_path(directory));
}

LoadedModel load_model(const ModelOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  OpenedModel opened = open_model(options);
  LoadedModel loaded;
  loaded.directory = opened.directory;
  loaded.memory = choose_memory(opened.memory_needs(), options);
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
  loaded.engine =
      std::make_unique<Engine>(load_weights_with_progress(opened, loaded.memory.limits), engine_options);
  loaded.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loaded;
}

}  // namespace orfebre::cli
