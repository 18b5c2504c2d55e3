// Sampling settings: the borders of every field, and the recommended sets.
#include "sample/sampling_params.h"

#include "base/error.h"
#include "sample/sampling_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace orfebre {
namespace {

constexpr int kVocab = 100;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class Value>
void expect_refused(Value SamplingParams::*field, Value value, const std::string& name) {
  SamplingParams params;
  params.*field = value;
  try {
    validate(params, kVocab);
    ADD_FAILURE() << name << " = " << value << " was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidRequest);
    EXPECT_THAT(error.what(), ::testing::StartsWith(name + " must be"));
  }
}

template <class Value>
void expect_taken(Value SamplingParams::*field, Value value) {
  SamplingParams params;
  params.*field = value;
  EXPECT_NO_THROW(validate(params, kVocab));
}

TEST(SamplingParams, TheDefaultsAreValid) {
  EXPECT_NO_THROW(validate(SamplingParams{}, kVocab));
}

TEST(SamplingParams, BordersAreTakenAndWhatLiesBeyondIsRefused) {
  struct Range {
    float SamplingParams::*field;
    const char* name;
    std::vector<float> taken;
    std::vector<float> refused;
  };
  const Range ranges[] = {
      {&SamplingParams::temperature, "temperature", {0.0f, 2.0f, 100.0f}, {-0.1f, 100.5f}},
      {&SamplingParams::top_p, "top_p", {0.01f, 1.0f}, {0.0f, -1.0f, 1.01f}},
      {&SamplingParams::min_p, "min_p", {0.0f, 0.99f}, {-0.01f, 1.0f}},
      {&SamplingParams::repetition_penalty, "repetition_penalty", {0.5f, 1.0f, 2.0f}, {0.0f, -1.0f, 1e9f}},
      {&SamplingParams::presence_penalty, "presence_penalty", {-2.0f, 2.0f}, {-2.1f, 2.1f}},
      {&SamplingParams::frequency_penalty, "frequency_penalty", {-2.0f, 2.0f}, {-2.1f, 2.1f}},
  };
  for (const Range& range : ranges) {
    for (const float value : range.taken) {
      expect_taken(range.field, value);
    }
    for (const float value : range.refused) {
      expect_refused(range.field, value, range.name);
    }
    expect_refused(range.field, kNan, range.name);
    expect_refused(range.field, kInfinity, range.name);
    expect_refused(range.field, -kInfinity, range.name);
  }
  expect_taken(&SamplingParams::top_k, 0);
  expect_taken(&SamplingParams::top_k, 1000000);
  expect_refused(&SamplingParams::top_k, -1, "top_k");
}

TEST(SamplingParams, BiasesAreChecked) {
  const auto bias = [](std::vector<std::pair<int32_t, float>> entries) {
    SamplingParams params;
    params.logit_bias = std::move(entries);
    validate(params, kVocab);
  };
  EXPECT_NO_THROW(bias({{0, -100.0f}, {kVocab - 1, 100.0f}}));
  EXPECT_THROW(bias({{kVocab, 1.0f}}), Error);
  EXPECT_THROW(bias({{-1, 1.0f}}), Error);
  EXPECT_THROW(bias({{3, 100.5f}}), Error);
  EXPECT_THROW(bias({{3, kNan}}), Error);
  EXPECT_NO_THROW(bias(std::vector<std::pair<int32_t, float>>(300, {1, 1.0f})));
  EXPECT_THROW(bias(std::vector<std::pair<int32_t, float>>(301, {1, 1.0f})), Error);
}

TEST(SamplingDefaults, AreTheModelCards) {
  const SamplingParams thinking = recommended_sampling(SamplingSet::kThinking);
  EXPECT_FLOAT_EQ(thinking.temperature, 1.0f);
  EXPECT_FLOAT_EQ(thinking.top_p, 0.95f);
  EXPECT_FLOAT_EQ(thinking.presence_penalty, 1.5f);
  const SamplingParams coding = recommended_sampling(SamplingSet::kThinkingCoding);
  EXPECT_FLOAT_EQ(coding.temperature, 0.6f);
  EXPECT_FLOAT_EQ(coding.presence_penalty, 0.0f);
  const SamplingParams answer = recommended_sampling(SamplingSet::kAnswer);
  EXPECT_FLOAT_EQ(answer.temperature, 0.7f);
  EXPECT_FLOAT_EQ(answer.top_p, 0.8f);
  for (const SamplingParams& params : {thinking, coding, answer}) {
    EXPECT_EQ(params.top_k, 20);
    EXPECT_FLOAT_EQ(params.min_p, 0.0f);
    EXPECT_FLOAT_EQ(params.repetition_penalty, 1.0f);
    EXPECT_NO_THROW(validate(params, kVocab));
  }
}

}  // namespace
}  // namespace orfebre
