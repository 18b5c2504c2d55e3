// Filling in what a request leaves out.
#include "sample/sampling_fields.h"

#include <gtest/gtest.h>

namespace orfebre {
namespace {

TEST(ResolveSampling, FillsInTheDefaults) {
  SamplingParams defaults;
  defaults.temperature = 0.7f;
  defaults.top_k = 20;
  defaults.top_p = 0.8f;
  defaults.presence_penalty = 1.5f;
  SamplingFields fields;
  fields.top_k = 3;
  const SamplingParams params = resolve_sampling(fields, defaults);
  EXPECT_EQ(params.temperature, 0.7f);
  EXPECT_EQ(params.top_k, 3);
  EXPECT_EQ(params.presence_penalty, 1.5f);
  EXPECT_NE(params.seed, resolve_sampling(fields, defaults).seed) << "the seed is not random";

  fields.temperature = 0.0f;
  EXPECT_EQ(resolve_sampling(fields, defaults).presence_penalty, 0.0f) << "greedy is not the argmax";
  fields.presence_penalty = 0.5f;
  EXPECT_EQ(resolve_sampling(fields, defaults).presence_penalty, 0.5f);
}

TEST(ResolveSampling, TurnsTheEndsOfItsRangesIntoWhatPickTakes) {
  SamplingFields fields;
  fields.top_p = 0.0f;
  fields.min_p = 1.0f;
  const SamplingParams params = resolve_sampling(fields, {});
  EXPECT_NO_THROW(validate(params, 10));
  EXPECT_LT(params.top_p, 1e-5f);
  EXPECT_GT(params.min_p, 0.999f);
}

}  // namespace
}  // namespace orfebre
