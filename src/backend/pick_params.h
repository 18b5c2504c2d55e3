// The pick's parameters: how logits become a token, a launch of its own. Plain structs, included by C++, CUDA
// and Metal alike; see params.h for the block ops.
#pragma once

#include "spec/step_header.h"

namespace orfebre {

constexpr int kTopLogprobs = 20;

enum PickStatus {
  kPickOk = 0,
  kPickNotFinite = 1,   // a logit is NaN or +infinity: the request fails
  kPickNothingLeft = 2  // masks forbid every token: the request fails
};

// How one logit row becomes a token. Order: bias, penalties, mask; greedy if temperature is 0; otherwise
// divide by temperature, keep top_k, then top_p, then min_p, and draw with noise(seed, position).
struct PickRow {
  uint64_t seed;
  int32_t logit_row;     // index into HeadOp::logits
  int32_t lane;          // whose history the penalties read, and whose `picked` is written
  int32_t position;      // absolute position of the token being chosen
  int32_t forced_token;  // >= 0: choose exactly this one; its logprob is still reported
  int32_t n_vocab;       // ids at or above are padding rows of the head and never chosen
  int32_t top_k;         // 0: all
  float temperature;
  float top_p;               // 1: all
  float min_p;               // 0: all
  float repetition_penalty;  // 1: none; over prompt and reply
  float presence_penalty;    // 0: none; over the reply
  float frequency_penalty;   // 0: none; over the reply
  int32_t bias_offset;       // into PickOp::bias_ids and bias_values
  int32_t n_bias;
  int32_t mask;  // index into PickOp::masks, or -1
};

struct PickResult {
  int32_t token;
  int32_t status;                 // PickStatus
  float logprob;                  // of the token under softmax of the raw logits, before any change
  int32_t top_ids[kTopLogprobs];  // the largest raw logprobs, descending; ties to the lower id
  float top_logprobs[kTopLogprobs];
};

struct PickOp {
  const ORFEBRE_GLOBAL float* logits;  // [n_logit_rows, vocab]
  const ORFEBRE_GLOBAL PickRow* rows;  // [n_rows]
  const ORFEBRE_GLOBAL int32_t* bias_ids;
  const ORFEBRE_GLOBAL float* bias_values;
  const ORFEBRE_GLOBAL uint32_t* masks;  // [n_masks, mask_words]: bit id % 32 of word id / 32 allows id
  ORFEBRE_GLOBAL uint32_t*
      token_counts;                    // in, out [kMaxLanes, vocab]: bit 31 in the prompt, rest in the reply
  ORFEBRE_GLOBAL int32_t* picked;      // out [kMaxLanes]
  ORFEBRE_GLOBAL PickResult* results;  // out [n_rows]
  int32_t n_rows;
  int32_t vocab;
  int32_t mask_words;  // (vocab + 31) / 32
};

constexpr uint32_t kCountInPrompt = 0x80000000u;

// Uniform in [0, 1) from (seed, position) alone: the same token whatever else runs beside the sequence.
// A 64-bit finaliser of multiply and shift (the constants of splitmix64), top 24 bits.
inline float pick_noise(uint64_t seed, int32_t position) {
  uint64_t x = seed + 0x9e3779b97f4a7c15ull * (static_cast<uint64_t>(static_cast<uint32_t>(position)) + 1u);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x = x ^ (x >> 31);
  return static_cast<float>(x >> 40) * 0x1p-24f;
}

}  // namespace orfebre
