// The part of a step that lives in device memory, shared with kernels of every backend: plain structs of
// 32-bit integers, so that C++, CUDA and Metal read the same bytes. See step.h for the meaning.
#pragma once

#ifdef __METAL_VERSION__
#define ORFEBRE_GLOBAL device
#else
#include <cstdint>
#define ORFEBRE_GLOBAL
#endif

namespace orfebre {

constexpr int kBlockTokens = 64;    // tokens in a KV block, aligned to absolute positions
constexpr int kMaxDecodeRows = 8;   // rows of a Decode step, all sequences together
constexpr int kMaxLanes = 8;        // sequences in flight
constexpr int kNoState = -1;        // state_in of a sequence that starts from zero
constexpr int kTokenFromPick = -1;  // row token: take what pick last chose for the sequence's lane

struct StepRow {
  int32_t token;     // id, or kTokenFromPick
  int32_t position;  // absolute, from 0
  int32_t sequence;  // index into StepHeader::sequences
};

struct StepSequence {
  int32_t first_row;  // its rows are consecutive tokens: [first_row, first_row + n_rows)
  int32_t n_rows;
  int32_t block_table;    // offset into StepHeader::block_tables; entry b holds positions [64 b, 64 b + 64)
  int32_t state_in;       // slot of the recurrent state before first_row, or kNoState; only read
  int32_t state_out;      // slot that receives the state; never equal to any state_in of the step
  int32_t accepted_rows;  // rows that state_out must include; n_rows, or fewer when drafts were refused
  int32_t lane;           // index of the sequence's pick history, 0 <= lane < kMaxLanes
};

struct StepHeader {
  int32_t is_prefill;
  int32_t n_rows;
  int32_t n_sequences;
  int32_t n_logit_rows;
  const ORFEBRE_GLOBAL StepRow* rows;            // [n_rows]
  const ORFEBRE_GLOBAL StepSequence* sequences;  // [n_sequences]
  const ORFEBRE_GLOBAL int32_t* block_tables;    // all sequences' tables, one after another
  const ORFEBRE_GLOBAL int32_t* logit_rows;      // [n_logit_rows] rows whose logits are wanted, ascending
};

}  // namespace orfebre
