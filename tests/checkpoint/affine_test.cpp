// The affine format: the quantiser against MLX's bits, the dequantiser against the definition.
#include "checkpoint/affine.h"

#include "checkpoint/safetensors.h"
#include "checkpoint/test_files.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace orfebre {
namespace {

template <typename T>
std::vector<T> read_tensor(const InputFile& file, const std::vector<TensorInfo>& tensors,
                           const std::string& name) {
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name == name) {
      std::vector<T> values(tensor.size_bytes / sizeof(T));
      file.read(values.data(), tensor.offset_bytes, tensor.size_bytes);
      return values;
    }
  }
  ADD_FAILURE() << "fixture lacks " << name;
  return {};
}

bool same_bits(bf16 left, bf16 right) {
  return left.bits == right.bits;
}

class AffineTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Bits, AffineTest, testing::Values(4, 8));

// tools/checkpoint/make_affine_fixture.py made the file with mlx.
TEST_P(AffineTest, SameBitsAsMlx) {
  const int bits = GetParam();
  const InputFile file(std::string(ORFEBRE_TEST_DATA_DIR) + "/checkpoint/affine.safetensors");
  const std::vector<TensorInfo> tensors = read_safetensors_header(file);
  const auto values = read_tensor<bf16>(file, tensors, "values");
  const auto expected_codes = read_tensor<uint32_t>(file, tensors, "codes" + std::to_string(bits));
  const auto expected_scales = read_tensor<bf16>(file, tensors, "scales" + std::to_string(bits));
  const auto expected_biases = read_tensor<bf16>(file, tensors, "biases" + std::to_string(bits));
  const size_t n_groups = values.size() / kAffineGroupSize;
  ASSERT_GT(n_groups, 200u);
  const size_t words = static_cast<size_t>(affine_group_words(bits));
  std::vector<uint32_t> codes(n_groups * words, 0xdeadbeefu);
  std::vector<bf16> scales(n_groups, bf16{0x7fc1});
  std::vector<bf16> biases(n_groups, bf16{0x7fc1});
  quantize_affine(codes.data(), scales.data(), biases.data(), values.data(), n_groups, bits);
  for (size_t group = 0; group < n_groups; ++group) {
    EXPECT_TRUE(same_bits(scales[group], expected_scales[group])) << "scale of group " << group;
    EXPECT_TRUE(same_bits(biases[group], expected_biases[group])) << "bias of group " << group;
    EXPECT_EQ(std::memcmp(&codes[group * words], &expected_codes[group * words], words * 4), 0)
        << "group " << group;
  }
}

// Against the definition, with the code read from the packed bytes another way.
TEST_P(AffineTest, DequantizesEveryElementByTheDefinition) {
  const int bits = GetParam();
  std::mt19937 random(7);
  const size_t n_groups = 50;
  const size_t words = static_cast<size_t>(affine_group_words(bits));
  std::vector<uint32_t> codes(n_groups * words);
  for (uint32_t& word : codes) {
    word = static_cast<uint32_t>(random());
  }
  std::vector<bf16> scales(n_groups);
  std::vector<bf16> biases(n_groups);
  std::normal_distribution<float> normal;
  for (size_t group = 0; group < n_groups; ++group) {
    scales[group] = to_bf16(normal(random));
    biases[group] = to_bf16(normal(random) * 8);
  }
  std::vector<float> values(n_groups * 64, std::numeric_limits<float>::quiet_NaN());
  dequantize_affine(values.data(), codes.data(), scales.data(), biases.data(), n_groups, bits);
  const auto* bytes = reinterpret_cast<const uint8_t*>(codes.data());
  for (size_t index = 0; index < values.size(); ++index) {
    const int code =
        bits == 8 ? bytes[index] : (index % 2 == 0 ? bytes[index / 2] & 15 : bytes[index / 2] >> 4);
    const double exact = double{to_f32(scales[index / 64])} * code + double{to_f32(biases[index / 64])};
    EXPECT_EQ(values[index], static_cast<float>(exact)) << index;
  }
}

TEST_P(AffineTest, RoundTripStaysWithinHalfAStep) {
  const int bits = GetParam();
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<bf16> values(200 * 64);
  for (bf16& value : values) {
    value = to_bf16(normal(random));
  }
  const size_t words = static_cast<size_t>(affine_group_words(bits));
  std::vector<uint32_t> codes(200 * words);
  std::vector<bf16> scales(200);
  std::vector<bf16> biases(200);
  quantize_affine(codes.data(), scales.data(), biases.data(), values.data(), 200, bits);
  std::vector<float> back(values.size());
  dequantize_affine(back.data(), codes.data(), scales.data(), biases.data(), 200, bits);
  bool saw_negative_scale = false;
  for (size_t index = 0; index < values.size(); ++index) {
    const float scale = std::fabs(to_f32(scales[index / 64]));
    saw_negative_scale |= to_f32(scales[index / 64]) < 0;
    const float bias = std::fabs(to_f32(biases[index / 64]));
    // Half a step (a whole one at the clamped end) and what rounding scale and bias to bf16 adds.
    const float bound = scale * 1.01f + bias * 0x1p-8f + scale * static_cast<float>(1 << bits) * 0x1p-8f;
    EXPECT_LE(std::fabs(back[index] - to_f32(values[index])), bound) << index;
  }
  EXPECT_TRUE(saw_negative_scale);
}

TEST_P(AffineTest, NonFiniteInputIsHarmless) {
  const int bits = GetParam();
  std::vector<bf16> values(64 * 3, to_bf16(1.0f));
  values[3] = to_bf16(std::numeric_limits<float>::quiet_NaN());
  values[64 + 5] = to_bf16(std::numeric_limits<float>::infinity());
  values[128 + 5] = to_bf16(-std::numeric_limits<float>::infinity());
  std::vector<uint32_t> codes(3 * static_cast<size_t>(affine_group_words(bits)));
  std::vector<bf16> scales(3);
  std::vector<bf16> biases(3);
  quantize_affine(codes.data(), scales.data(), biases.data(), values.data(), 3, bits);
  EXPECT_FALSE(all_finite(values.data(), 64));
  EXPECT_FALSE(all_finite(values.data() + 64, 64));
  EXPECT_TRUE(all_finite(values.data() + 6, 58));
}

TEST(AllFinite, SeesEveryKindOfNonFiniteValue) {
  std::vector<float> values(100, 1e38f);
  EXPECT_TRUE(all_finite(values.data(), values.size()));
  values[99] = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(all_finite(values.data(), values.size()));
  EXPECT_TRUE(all_finite(values.data(), 99));
  values[0] = std::numeric_limits<float>::signaling_NaN();
  EXPECT_FALSE(all_finite(values.data(), 1));
  const std::vector<bf16> halves = {{0x7f7f}, {0xff7f}, {0x0001}};
  EXPECT_TRUE(all_finite(halves.data(), 3));
  const bf16 bad = {0xffc0};
  EXPECT_FALSE(all_finite(&bad, 1));
}

}  // namespace
}  // namespace orfebre
