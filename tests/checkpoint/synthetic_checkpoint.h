// Checkpoints for tests, made from nothing: every value is a function of its tensor's name and its index, so
// that tests know what each weight must be, and tools/checkpoint/make_export_fixture.py can make the same
// files. The lists of names and shapes are written out here, apart from the code under test.
#pragma once

#include "checkpoint/safetensors_writer.h"
#include "spec/shape.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orfebre {

// A tensor with its bytes.
struct TestTensor {
  TensorDtype dtype = TensorDtype::kBf16;
  std::vector<int64_t> shape;
  std::string bytes;
};
using TestTensors = std::map<std::string, TestTensor>;

uint32_t crc32(const std::string& bytes);

// The elements of the tensor `name` before rounding to its dtype. Only the kind of tensor matters for the
// range: norms around 0 (around 1 for the gated norm), A_log in -4..2, everything else in -0.125..0.125.
class SyntheticValues {
 public:
  explicit SyntheticValues(const std::string& name);
  float operator[](uint64_t index) const;

 private:
  uint64_t seed_;
  float factor_;
  float centre_;
};

// The tensors of a Hugging Face checkpoint. With `all_f32` every tensor is F32; otherwise BF16, save that
// A_log and the gated norms are F32 as in Qwen3.5. Two vision and two MTP tensors are among them. `filled`
// false leaves the bytes out: for tests that look at headers only.
TestTensors hugging_face_tensors(const ShapeInfo& shape, bool all_f32, bool filled = true);

// The tensors of an MLX 4-bit checkpoint of this shape, without bytes, and without vision tower.
TestTensors mlx_tensor_headers(const ShapeInfo& shape);

// DIRECTORY/model.safetensors. Tensors without bytes become a hole of zeros, whatever their size.
void write_tensors(const std::string& directory, const TestTensors& tensors);
TestTensors read_tensors(const std::string& directory);

// tests/data/checkpoint/NAME, and copying one of the configs there to DIRECTORY/config.json.
std::string checkpoint_data(const std::string& name);
void copy_config(const std::string& directory, const std::string& name);

// A Hugging Face checkpoint of the Demo shape (hugging_face_tensors), written once for all tests that only
// read it: 50 or 100 MB a test would be slow.
const std::string& shared_hugging_face_directory(bool all_f32);

}  // namespace orfebre
