// Every kernel of every instruction set gives the same bits for the same arguments: hashes of outputs, so
// that sets which no single machine has are compared through the constants below. Inputs come from integers
// by exact steps, so they are the same everywhere. When the arithmetic is changed on purpose, the failures
// print the new hashes; they must agree on x86-64 and on Arm (scripts/test_arm64.sh tests both at once).
#include "backend/cpu/paths.h"
#include "support/seeded_formula.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace orfebre::cpu {
namespace {

using test::key_of;
using test::unit;
using test::word;

class Hash {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    for (const T& value : values) {
      add(value);
    }
  }
  template <class T>
  void add(const T& value) {
    uint8_t bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const uint8_t byte : bytes) {
      hash_ = (hash_ ^ byte) * 0x100000001b3ull;
    }
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ull;
};

// Random values in [-size, size), also very small ones, from an integer formula.
std::vector<float> floats(const std::string& name, size_t n, float size = 1.0f) {
  const uint64_t key = key_of(1, name, "golden");
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = size * (2.0f * unit(key, i) - 1.0f);
  }
  return values;
}

std::vector<uint8_t> bytes(const char* name, size_t n) {
  const uint64_t key = key_of(2, name, "golden");
  std::vector<uint8_t> values(n);
  for (size_t i = 0; i < n; ++i) {
    values[i] = static_cast<uint8_t>(word(key, i));
  }
  return values;
}

// Panels of random codes, with scales and biases of order 1/64.
std::vector<uint8_t> panels(const char* name, int n_out, int n_in, int bits) {
  std::vector<uint8_t> values = bytes(name, panels_bytes(n_out, n_in, bits));
  const std::vector<float> scales = floats(name, 2 * kPanelRows, 0.015f);
  for (size_t at = 0; at < values.size(); at += group_bytes(bits)) {
    for (size_t i = 0; i < scales.size(); ++i) {
      const bf16 scale = to_bf16(scales[(i + at) % scales.size()]);
      std::memcpy(values.data() + at + code_bytes(bits) + 2 * i, &scale, 2);
    }
  }
  return values;
}

// Quantised rows, one after another.
std::vector<uint8_t> quantised_rows(const Kernels& kernels, const char* name, int n_rows, int n_in) {
  const uint64_t stride = quantized_row_bytes(n_in);
  const std::vector<float> x = floats(name, static_cast<size_t>(n_rows * n_in), 3.0f);
  std::vector<uint8_t> rows(stride * static_cast<uint64_t>(n_rows));
  for (int r = 0; r < n_rows; ++r) {
    kernels.quantize(rows.data() + stride * static_cast<uint64_t>(r), x.data() + r * n_in, n_in);
  }
  return rows;
}

uint64_t hash_norms(const Kernels& kernels) {
  Hash hash;
  const std::vector<float> x = floats("x", 512, 5.0f);
  const std::vector<float> weight = floats("weight", 512);
  const std::vector<float> rope = floats("rope", 64);
  std::vector<float> out(512);
  kernels.rms_norm(out.data(), x.data(), weight.data(), 512);
  hash.add(out);
  kernels.norm_rope(out.data(), x.data(), weight.data(), rope.data());
  hash.add(out);
  return hash.value();
}

uint64_t hash_quantize(const Kernels& kernels) {
  std::vector<float> x = floats("quantised", 512, 7.0f);
  std::fill(x.begin() + 64, x.begin() + 128, 0.0f);
  std::fill(x.begin() + 128, x.begin() + 192, 0x1p-120f);
  x[200] = -1e6f;
  for (size_t i = 320; i < 384; ++i) {  // ties: halves of a step
    x[i] = (static_cast<float>(i) - 350.5f) * 0.5f;
  }
  x[383] = 16256.0f;
  std::vector<uint8_t> row(quantized_row_bytes(512));
  kernels.quantize(row.data(), x.data(), 512);
  Hash hash;
  hash.add(row);
  return hash.value();
}

uint64_t hash_embed(const Kernels& kernels) {
  Hash hash;
  for (const int bits : {4, 8}) {
    std::vector<uint8_t> row = bytes("row", embedding_row_bytes(256, bits));
    const std::vector<float> scales = floats("scales", 8);
    for (size_t i = 0; i < scales.size(); ++i) {
      const bf16 scale = to_bf16(scales[i]);
      std::memcpy(row.data() + 256 * bits / 8 + 2 * i, &scale, 2);
    }
    std::vector<float> out(256);
    kernels.embed(out.data(), row.data(), 256, bits);
    hash.add(out);
  }
  return hash.value();
}

// f16 in all its ranges: past the largest, halves of the last place, subnormal, too small.
uint64_t hash_cache_token(const Kernels& kernels) {
  std::vector<float> k = floats("k", 256, 100000.0f);
  std::vector<float> v = floats("v", 256, 4.0f);
  for (size_t i = 0; i < 64; ++i) {
    v[i] *= std::ldexp(1.0f, -static_cast<int>(i / 2));
    v[64 + i] = 1.0f + static_cast<float>(i) * 0x1p-11f;
  }
  std::vector<uint8_t> head(kKvHeadBytes);
  kernels.cache_token(head.data(), 5, k.data(), v.data());
  kernels.cache_token(head.data(), 63, v.data(), k.data());
  Hash hash;
  hash.add(head);
  return hash.value();
}

uint64_t hash_project(const Kernels& kernels, int bits) {
  constexpr int kIn = 192;
  constexpr int kOut = 40;  // the last panel is half empty
  const std::vector<uint8_t> weights = panels("project", kOut, kIn, bits);
  Hash hash;
  for (int n_cols = 1; n_cols <= 11; ++n_cols) {
    const std::vector<uint8_t> x = quantised_rows(kernels, "columns", n_cols, kIn);
    std::vector<float> out = floats("out", static_cast<size_t>(n_cols * kOut));
    ProjectArgs args = {weights.data(),           bits,   kIn,        kOut, x.data(),
                        quantized_row_bytes(kIn), n_cols, out.data(), kOut, false};
    kernels.project(args, 0, 3);
    hash.add(out);
    args.add = true;
    kernels.project(args, 1, 2);
    hash.add(out);
  }
  return hash.value();
}

// Codes and activations at their largest: what an accumulator too narrow would not hold.
uint64_t hash_extremes(const Kernels& kernels, int bits) {
  Hash hash;
  for (const int code : {0, 255}) {
    for (const float sign : {-1.0f, 1.0f}) {
      std::vector<uint8_t> weights = panels("extremes", 16, 128, bits);
      for (size_t at = 0; at < weights.size(); at += group_bytes(bits)) {
        std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(at), code_bytes(bits),
                    static_cast<uint8_t>(code));
      }
      const std::vector<float> x(128, sign);
      std::vector<uint8_t> row(quantized_row_bytes(128));
      kernels.quantize(row.data(), x.data(), 128);
      std::vector<float> out(32);
      const ProjectArgs args = {weights.data(), bits, 128, 16, row.data(), 0, 2, out.data(), 16, false};
      kernels.project(args, 0, 1);
      hash.add(out);
    }
  }
  return hash.value();
}

uint64_t hash_experts(const Kernels& kernels, int bits) {
  constexpr int kIn = 128;
  constexpr int kWidth = 64;
  constexpr int kRows = 3;
  const std::vector<uint8_t> gate = panels("gate", kWidth, kIn, bits);
  const std::vector<uint8_t> up = panels("up", kWidth, kIn, 4);
  const std::vector<uint8_t> down = panels("down", kIn, kWidth, bits);
  const std::vector<uint8_t> x = quantised_rows(kernels, "experts", kRows, kIn);
  const std::vector<int32_t> entries = {2, kSlots + 7, 2 * kSlots};
  const std::vector<float> weights = floats("expert weights", entries.size());
  std::vector<float> activated(static_cast<size_t>(kRows * kSlots * kWidth));
  std::vector<float> residual = floats("residual", kRows * kIn);
  kernels.expert_up({gate.data(), up.data(), bits, 4, kIn, kWidth, x.data(), quantized_row_bytes(kIn),
                     entries.data(), 3, activated.data()},
                    0, panel_count(kWidth));
  const std::vector<uint8_t> inner = quantised_rows(kernels, "inner", kRows * kSlots, kWidth);
  kernels.expert_down({down.data(), bits, kWidth, kIn, inner.data(), quantized_row_bytes(kWidth),
                       entries.data(), weights.data(), 3, residual.data()},
                      0, panel_count(kIn));
  Hash hash;
  hash.add(activated);
  hash.add(residual);
  return hash.value();
}

uint64_t hash_delta_head(const Kernels& kernels, int n_rows, int accepted_rows, bool fresh) {
  constexpr uint64_t kChannels = 384;
  constexpr size_t kState = kDeltaHeadFloats;
  const auto rows = static_cast<size_t>(n_rows);
  const std::vector<float> qkv = floats("qkv", rows * kChannels, 2.0f);
  const std::vector<float> conv_weight = floats("conv weight", 4 * kChannels);
  const std::vector<float> conv_in = floats("conv in", 3 * kChannels);
  const std::vector<float> a = floats("a", rows, 4.0f);
  const std::vector<float> b = floats("b", rows, 4.0f);
  const std::vector<float> norm = floats("norm", 128);
  const std::vector<float> z = floats("z", rows * 128, 4.0f);
  const std::vector<float> state_in = floats("state", kState, 0.1f);
  std::vector<float> conv_out(3 * kChannels);
  std::vector<float> mixed(rows * 128);
  std::vector<float> state_out(kState);
  std::vector<float> refused(kState);
  kernels.delta_head({n_rows,
                      accepted_rows,
                      qkv.data(),
                      kChannels,
                      0,
                      128,
                      256,
                      true,
                      conv_weight.data(),
                      fresh ? nullptr : conv_in.data(),
                      conv_out.data(),
                      a.data(),
                      b.data(),
                      1,
                      0.5f,
                      -1.0f,
                      1e-6f,
                      norm.data(),
                      z.data(),
                      mixed.data(),
                      128,
                      fresh ? nullptr : state_in.data(),
                      state_out.data(),
                      refused.data()});
  Hash hash;
  hash.add(mixed);
  hash.add(state_out);
  hash.add(conv_out);
  return hash.value();
}

// Rows on both sides of a block's end, then one of them in parts.
uint64_t hash_attend(const Kernels& kernels) {
  constexpr int kRows = 5;
  constexpr size_t kWidth = kHeadsPerKvHead * kHeadDim;
  std::vector<uint8_t> cache(2 * kKvBlockBytes);
  for (int position = 0; position < 66; ++position) {
    const std::vector<float> k = floats(std::to_string(position) + " k", 256, 0.5f);
    const std::vector<float> v = floats(std::to_string(position) + " v", 256);
    kernels.cache_token(cache.data() + (position < 64 ? kKvBlockBytes : 0), position % 64, k.data(),
                        v.data());
  }
  const std::vector<int32_t> blocks = {1, 0};
  const std::vector<float> q = floats("queries", kRows * kWidth, 3.0f);
  const std::vector<float> gate = floats("gates", kRows * kWidth, 8.0f);
  std::vector<float> mixed(kRows * kWidth);
  std::vector<float> scratch(kAttendScratchFloats);
  AttendArgs args = {kRows,  61,           q.data(),      gate.data(),   mixed.data(),
                     kWidth, cache.data(), blocks.data(), scratch.data()};
  kernels.attend(args);
  Hash hash;
  hash.add(mixed);
  args.n_rows = 1;
  args.first_position = 65;
  std::vector<float> parts(2 * kPartialFloats);
  kernels.attend_block(parts.data(), args, 0);
  kernels.attend_block(parts.data() + kPartialFloats, args, 1);
  kernels.attend_fold(scratch.data(), parts.data(), 2, true, true, args);
  hash.add(mixed);
  return hash.value();
}

uint64_t hash_choices(const Kernels& kernels) {
  Hash hash;
  std::vector<float> logits = floats("router", 256, 6.0f);
  logits[7] = logits[200] = 5.5f;
  std::vector<int32_t> ids(8);
  std::vector<float> weights(8);
  kernels.top_experts(ids.data(), weights.data(), logits.data(), 256);
  hash.add(ids);
  hash.add(weights);
  logits = floats("router", 256, 6.0f);
  logits[33] = logits[100] = std::numeric_limits<float>::quiet_NaN();
  hash.add(kernels.largest(logits.data(), 256));
  kernels.top_experts(ids.data(), weights.data(), logits.data(), 256);  // the weights are NaN
  hash.add(ids);
  std::vector<float> x = floats("vocabulary", 1500, 90.0f);
  hash.add(kernels.largest(x.data(), 1499));
  hash.add(kernels.sum_exp(x.data(), 1499, 88.0f, 0.7f));
  std::vector<int32_t> found(1500);
  const int n_found = kernels.collect(found.data(), x.data(), 1499, 60.0f, 1000);
  hash.add(n_found);
  hash.add(found);
  std::vector<uint32_t> mask(47);
  std::vector<uint32_t> counts(1500);
  for (size_t i = 0; i < counts.size(); ++i) {
    mask[i / 32] = static_cast<uint32_t>(word(3, i / 32));
    counts[i] = word(4, i) % 50 == 0 ? 1 : 0;
  }
  hash.add(kernels.collect_used(found.data(), counts.data(), 1500));
  hash.add(found);
  kernels.apply_mask(x.data(), mask.data(), 1499);
  hash.add(x);
  return hash.value();
}

// Finite values of every size, the clamped ends of the exponential, and infinities.
uint64_t hash_sigmoid(const Kernels& kernels) {
  std::vector<float> x = floats("sigmoid", 8192, 100.0f);
  for (size_t i = 0; i < 2048; ++i) {
    x[i] *= 0x1p-10f;
  }
  x[0] = std::numeric_limits<float>::infinity();
  x[1] = -std::numeric_limits<float>::infinity();
  x[2] = -0.0f;
  kernels.sigmoid(x.data(), 8192);
  Hash hash;
  hash.add(x);
  return hash.value();
}

struct Golden {
  const char* name;
  uint64_t (*compute)(const Kernels&);
  uint64_t expected;
};

const Golden kGoldens[] = {
    {"norms", hash_norms, 0x2ee76e47ebae2f3aull},
    {"quantize", hash_quantize, 0xcf8ac2f837e6b201ull},
    {"embed", hash_embed, 0xf05111661d4b6362ull},
    {"cache_token", hash_cache_token, 0x8895709572479b01ull},
    {"project, 4 bits", [](const Kernels& k) { return hash_project(k, 4); }, 0x1ffa2018c7d3282full},
    {"project, 8 bits", [](const Kernels& k) { return hash_project(k, 8); }, 0x598570a680dce7b2ull},
    {"extremes, 4 bits", [](const Kernels& k) { return hash_extremes(k, 4); }, 0xa4644d39a5b6cf25ull},
    {"extremes, 8 bits", [](const Kernels& k) { return hash_extremes(k, 8); }, 0x7d62ec8b7c71b01dull},
    {"experts, 4 bits", [](const Kernels& k) { return hash_experts(k, 4); }, 0xfc9f1c36939bc3c5ull},
    {"experts, 8 bits", [](const Kernels& k) { return hash_experts(k, 8); }, 0xb035c6134768c9abull},
    {"delta_head, one row", [](const Kernels& k) { return hash_delta_head(k, 1, 1, false); },
     0xb9553c893543885eull},
    {"delta_head, fresh", [](const Kernels& k) { return hash_delta_head(k, 19, 19, true); },
     0xa5810f79f53396bdull},
    {"delta_head, refused rows", [](const Kernels& k) { return hash_delta_head(k, 6, 4, false); },
     0x9d764da4090e87b0ull},
    {"attend", hash_attend, 0xc44025ca11f3a651ull},
    {"choices", hash_choices, 0x3567b96e5c193062ull},
    {"sigmoid", hash_sigmoid, 0xf6d4ba9f81fb933dull},
};

TEST(CpuGolden, EveryInstructionSetGivesTheseBits) {
  int n_sets = 0;
  for (const Path& path : paths()) {
    if (!path.runs_here()) {
      continue;
    }
    ++n_sets;
    for (const Golden& golden : kGoldens) {
      const uint64_t found = golden.compute(path.kernels());
      EXPECT_EQ(found, golden.expected)
          << path.name << ": " << golden.name << ": found 0x" << std::hex << found << "ull";
    }
  }
  EXPECT_GT(n_sets, 0);
}

}  // namespace
}  // namespace orfebre::cpu
