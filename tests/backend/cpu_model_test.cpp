// The CPU backend through whole random models: close to the reference, and bitwise the same whatever the
// chunks, batch mates, threads and instruction set.
#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/paths.h"
#include "backend/reference/reference_backend.h"
#include "support/closeness.h"
#include "support/random_weights.h"
#include "support/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>

namespace orfebre::test {
namespace {

std::vector<int32_t> random_tokens(int n, int vocab, uint32_t seed) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    tokens.push_back(static_cast<int32_t>((seed >> 8) % static_cast<uint32_t>(vocab)));
  }
  return tokens;
}

struct Variant {
  const char* path;
  int threads;
};

// Models are made once a variant: repacking random weights is most of a test's time.
Model& cpu_model(ShapeId shape, const Variant& variant) {
  static std::map<std::tuple<ShapeId, std::string, int>, std::unique_ptr<Model>> models;
  std::unique_ptr<Model>& model = models[{shape, variant.path, variant.threads}];
  if (!model) {
    BackendOptions options;
    options.cpu_path = variant.path;
    options.threads = variant.threads;
    model = make_random_model(make_cpu_backend(shape, options));
  }
  return *model;
}

// The first path with 1, 2 and 3 threads, every further one with 1 and 3.
std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (const cpu::Path& path : cpu::paths()) {
    if (path.runs_here()) {
      if (list.empty()) {
        list.push_back({path.name, 2});
      }
      list.push_back({path.name, 1});
      list.push_back({path.name, 3});
    }
  }
  return list;
}

// Logits of the last row of a prompt fed in chunks of `chunk` rows.
std::vector<float> prefill(Model& model, std::span<const int32_t> prompt, size_t chunk, int place = 0,
                           StepKind kind = StepKind::kPrefill) {
  Sequence sequence(model, place);
  std::vector<float> logits;
  for (size_t first = 0; first < prompt.size(); first += chunk) {
    const auto part = prompt.subspan(first, std::min(chunk, prompt.size() - first));
    const int32_t last = static_cast<int32_t>(part.size()) - 1;
    logits = sequence.feed(part, {&last, 1}, kind);
  }
  return logits;
}

class CpuModel : public ::testing::TestWithParam<ShapeId> {
 protected:
  int vocab() const {
    return with_shape(GetParam(), []<class Shape>() { return Shape::kVocab; });
  }
};

TEST_P(CpuModel, StaysCloseToTheReference) {
  const std::unique_ptr<Model> reference = make_random_model(make_reference_backend(GetParam(), {}));
  Model& model = cpu_model(GetParam(), variants().front());
  const std::vector<int32_t> prompt = random_tokens(130, vocab(), 7);
  const int32_t wanted[] = {0, 1, 2, 62, 63, 64, 100, 129};
  const std::vector<float> expected = Sequence(*reference).feed(prompt, wanted);
  const std::vector<float> actual = Sequence(model).feed(prompt, wanted);
  EXPECT_LT(relative_difference(actual, expected), 4e-3);
}

TEST_P(CpuModel, ChunksAndKindsOfStepDoNotChangeABit) {
  Model& model = cpu_model(GetParam(), variants().front());
  const std::vector<int32_t> prompt = random_tokens(200, vocab(), 11);
  const std::vector<float> whole = prefill(model, prompt, 200);
  for (const size_t chunk : {1, 7, 64}) {
    EXPECT_EQ(prefill(model, prompt, chunk), whole) << "chunks of " << chunk;
  }
  EXPECT_EQ(prefill(model, prompt, 1, 0, StepKind::kDecode), whole) << "decode steps of one row";
  EXPECT_EQ(prefill(model, prompt, 5, 2, StepKind::kDecode), whole) << "decode steps of five rows";
}

TEST_P(CpuModel, BatchMatesDoNotChangeABit) {
  Model& model = cpu_model(GetParam(), variants().front());
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::vector<float>> alone;
  for (int place = 0; place < 4; ++place) {
    prompts.push_back(random_tokens(20 + 30 * place, vocab(), 100u + static_cast<uint32_t>(place)));
    alone.push_back(prefill(model, prompts.back(), 1000, place));
  }
  for (const int n_rows_each : {1, 2}) {
    std::vector<Sequence> sequences;
    Step step;
    for (int place = 0; place < 4; ++place) {
      const std::span<const int32_t> prompt = prompts[static_cast<size_t>(place)];
      sequences.emplace_back(model, place);
      const size_t split = prompt.size() - static_cast<size_t>(n_rows_each);
      const int32_t none = 0;
      sequences.back().feed(prompt.first(split), {&none, 1});
      sequences.back().append_to(step, prompt.subspan(split));
      step.logit_rows.push_back(static_cast<int32_t>(step.rows.size()) - 1);
    }
    model.forward(step, nullptr);
    const std::vector<float> together = model.read_logits();
    for (size_t place = 0; place < 4; ++place) {
      const auto begin = together.begin() + static_cast<std::ptrdiff_t>(place) * vocab();
      EXPECT_EQ(std::vector<float>(begin, begin + vocab()), alone[place])
          << n_rows_each << " rows each, " << place;
    }
  }
}

TEST_P(CpuModel, ThreadsAndInstructionSetsDoNotChangeABit) {
  const std::vector<int32_t> prompt = random_tokens(75, vocab(), 13);
  const std::vector<float> expected = prefill(cpu_model(GetParam(), variants().front()), prompt, 75);
  for (const Variant& variant : variants()) {
    Model& model = cpu_model(GetParam(), variant);
    EXPECT_EQ(prefill(model, prompt, 75), expected) << variant.path << ", threads " << variant.threads;
    Sequence sequence(model, 1);
    std::vector<float> logits;
    sequence.feed(std::span(prompt).first(70), {});
    for (size_t i = 70; i < prompt.size(); ++i) {
      const int32_t row = 0;
      logits = sequence.feed({&prompt[i], 1}, {&row, 1}, StepKind::kDecode);
    }
    EXPECT_EQ(logits, expected) << "decoding with " << variant.path << ", threads " << variant.threads;
  }
}

uint64_t hash_of(std::span<const float> values) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const float value : values) {
    hash = (hash ^ std::bit_cast<uint32_t>(value)) * 0x100000001b3ull;
  }
  return hash;
}

// The same bits on machines that share no instruction set: cpu_golden_test.cpp for whole models. Short, for
// it also runs emulated.
TEST_P(CpuModel, LogitsAreTheSameBitsOnEveryMachine) {
  const uint64_t expected = GetParam() == ShapeId::kProbe ? 0xf09d2c6210fb1d4cull : 0xc45add97b917e7deull;
  const std::vector<int32_t> prompt = random_tokens(11, vocab(), 19);
  for (const Variant& variant : variants()) {
    if (variant.threads == 1) {
      const uint64_t found = hash_of(prefill(cpu_model(GetParam(), variant), prompt, 9));
      EXPECT_EQ(found, expected) << variant.path << ": found 0x" << std::hex << found << "ull";
    }
  }
}

// A step of drafts of which some were refused leaves the state as if they had never been.
TEST_P(CpuModel, RefusedRowsLeaveNoTrace) {
  Model& model = cpu_model(GetParam(), variants().front());
  const std::vector<int32_t> prompt = random_tokens(30, vocab(), 17);
  const std::vector<float> expected = prefill(model, prompt, 30);
  for (const int accepted : {1, 2, 5}) {
    Sequence sequence(model, 1);
    Step step;
    step.kind = StepKind::kDecode;
    std::vector<int32_t> drafts(prompt.begin() + 20, prompt.begin() + 20 + accepted);
    drafts.resize(6, 3);
    const int32_t none = 0;
    sequence.feed(std::span(prompt).first(20), {&none, 1});
    sequence.append_to(step, drafts);
    step.sequences[0].accepted_rows = accepted;
    model.forward(step, nullptr);

    Step rest;
    rest.kind = StepKind::kPrefill;
    sequence.append_to(rest, std::span(prompt).subspan(20 + static_cast<size_t>(accepted)));
    for (StepRow& row : rest.rows) {
      row.position -= 6 - accepted;  // the refused positions are written again
    }
    rest.logit_rows = {static_cast<int32_t>(rest.rows.size()) - 1};
    model.forward(rest, nullptr);
    EXPECT_EQ(model.read_logits(), expected) << accepted << " accepted";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuModel, ::testing::Values(ShapeId::kProbe, ShapeId::kDemo),
                         [](const auto& shape) { return shape.param == ShapeId::kProbe ? "Probe" : "Demo"; });

}  // namespace
}  // namespace orfebre::test
