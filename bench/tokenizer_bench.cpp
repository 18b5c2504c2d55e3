// Tokenizer speed: MB of text a second of processor time, one thread.
// Usage: bench_tokenizer TOKENIZER_JSON [TEXT_FILE]
// Without a file the prose is a generated megabyte. Hostile megabytes follow, each also at twice the size:
// the rate must stay.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace {

using orfebre::text::TokenId;
using orfebre::text::Tokenizer;

std::string generated_prose(std::size_t n_bytes) {
  const std::vector<std::string> words = {
      "the",    "engine",    "reads",   "a",        "checkpoint", "and",  "answers", "in",
      "words",  "que",       "llegan",  "despacio", "während",    "it",   "thinks,", "don't",
      "stop",   "2024",      "router.", "quickly;", "tokenizer",  "is",   "not",     "slow:",
      "memory", "bandwidth", "limits",  "every",    "layer",      "中文", "naïve",   "(see"};
  std::mt19937 random(1);
  std::string text;
  while (text.size() < n_bytes) {
    text += words[random() % words.size()];
    text += random() % 12 == 0 ? "\n\n" : " ";
  }
  return text;
}

std::string repeated(const std::string& part, std::size_t n_bytes) {
  std::string text;
  while (text.size() < n_bytes) text += part;
  return text;
}

std::string random_word(std::size_t n_bytes) {
  std::mt19937 random(2);
  std::string text;
  while (text.size() < n_bytes) text += static_cast<char>('a' + random() % 26);
  return text;
}

void encode(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  std::size_t n_tokens = 0;
  for (auto _ : state) n_tokens = tokenizer.encode(text).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["bytes_per_token"] = static_cast<double>(text.size()) / static_cast<double>(n_tokens);
}

void decode(benchmark::State& state, const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  for (auto _ : state) {
    orfebre::text::Detokenizer detokenizer(tokenizer);
    for (const TokenId id : ids) benchmark::DoNotOptimize(detokenizer.push(id));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * ids.size()));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_tokenizer TOKENIZER_JSON [TEXT_FILE]\n");
    return 2;
  }
  const Tokenizer tokenizer = Tokenizer::from_file(argv[1]);
  std::string text = generated_prose(1'000'000);
  if (argc > 2) {
    std::ifstream file(argv[2], std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    text = all.str();
  }
  const std::vector<TokenId> ids = tokenizer.encode(text);
  benchmark::RegisterBenchmark("load", [&](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::from_file(argv[1]).vocab_size());
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("encode", [&](benchmark::State& state) { encode(state, tokenizer, text); });
  std::vector<std::pair<std::string, std::string>> hostile;
  for (const std::string size : {" 1 MB", " 2 MB"}) {
    const std::size_t n_bytes = size == " 1 MB" ? 1'000'000 : 2'000'000;
    hostile.emplace_back("word" + size, random_word(n_bytes));
    hostile.emplace_back("letter" + size, repeated("a", n_bytes));
    hostile.emplace_back("spaces" + size, repeated(" ", n_bytes) + "x");
    hostile.emplace_back("emoji" + size, repeated("\xF0\x9F\x91\xA9\xE2\x80\x8D", n_bytes));
    hostile.emplace_back("marks" + size, repeated("\xCC\x81\xCC\xA3\xCC\xB4", n_bytes));
    hostile.emplace_back("look-alikes" + size, repeated("<|im_start|", n_bytes));
  }
  for (const auto& [name, megabytes] : hostile) {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&](benchmark::State& state) { encode(state, tokenizer, megabytes); });
  }
  benchmark::RegisterBenchmark("stream", [&](benchmark::State& state) { decode(state, tokenizer, ids); });
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
