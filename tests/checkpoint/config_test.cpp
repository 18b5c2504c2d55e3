// config.json and generation_config.json: the real ones, bent ones and damaged ones.
#include "checkpoint/config.h"

#include "checkpoint/synthetic_checkpoint.h"
#include "checkpoint/test_files.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <random>

namespace orfebre {
namespace {

using nlohmann::json;
using testing::ElementsAre;

constexpr ErrorKind kUnsupported = ErrorKind::kUnsupported;

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in(checkpoint_data("qwen36_config.json"));
    config_ = json::parse(in);
  }
  ModelConfig read() {
    directory_.write("config.json", config_.dump());
    return read_model_config(directory_.path());
  }
  GenerationConfig read_generation(const std::string& text) {
    const ModelConfig model = read();
    directory_.write("generation_config.json", text);
    return read_generation_config(directory_.path(), model);
  }
  // Changing text_config by `change` must be refused with all of these parts in the text.
  void refuses(const std::vector<std::string>& parts, const std::function<void(json&)>& change) {
    const json before = config_;
    change(config_["text_config"]);
    expect_error(kUnsupported, parts, [&] { read(); });
    config_ = before;
  }

  TempDirectory directory_;
  json config_;
};

TEST_F(ConfigTest, TheRealModel) {
  const ModelConfig config = read();
  EXPECT_EQ(config.shape.id, ShapeId::kQwen36);
  EXPECT_EQ(config.max_context, 262144);
  EXPECT_THAT(config.eos_ids, ElementsAre(248044));
  EXPECT_FALSE(config.quantization.of("language_model.lm_head").has_value());
}

TEST_F(ConfigTest, TheMlxConversion) {
  copy_config(directory_.path(), "qwen36_config_mlx.json");
  const ModelConfig config = read_model_config(directory_.path());
  EXPECT_EQ(config.shape.id, ShapeId::kQwen36);
  EXPECT_THAT(config.eos_ids, ElementsAre(248046, 248044));
  for (const char* prefix :
       {"language_model.model.", "model.language_model.", "model.", "language_model.", ""}) {
    const std::string layer = std::string(prefix) + "layers.39.";
    EXPECT_EQ(config.quantization.of(layer + "mlp.gate")->bits, 8) << prefix;
    EXPECT_EQ(config.quantization.of(layer + "mlp.shared_expert_gate")->bits, 8) << prefix;
    EXPECT_EQ(config.quantization.of(layer + "mlp.switch_mlp.gate_proj")->bits, 4) << prefix;
  }
  EXPECT_EQ(config.quantization.of("language_model.lm_head")->group_size, 64);
}

TEST_F(ConfigTest, EveryShapeIsFoundByItsSizes) {
  for (const ShapeInfo& shape : kShapes) {
    json& text = config_["text_config"];
    text["hidden_size"] = shape.hidden;
    text["num_hidden_layers"] = shape.layers;
    text["linear_num_key_heads"] = shape.key_heads;
    text["linear_num_value_heads"] = shape.value_heads;
    text["num_experts"] = shape.experts;
    text["moe_intermediate_size"] = text["shared_expert_intermediate_size"] = shape.expert_width;
    text["vocab_size"] = shape.vocab;
    text["eos_token_id"] = 1;
    text.erase("layer_types");
    EXPECT_EQ(read().shape.id, shape.id);
  }
}

TEST_F(ConfigTest, ATextOnlyFileHasItsFieldsAtTheTop) {
  config_ = config_["text_config"];
  EXPECT_EQ(read().shape.id, ShapeId::kQwen36);
}

TEST_F(ConfigTest, OtherSizesNameFieldFoundAndExpected) {
  for (const char* field :
       {"hidden_size", "num_hidden_layers", "linear_num_key_heads", "linear_num_value_heads", "num_experts",
        "moe_intermediate_size", "shared_expert_intermediate_size", "vocab_size", "num_attention_heads",
        "num_key_value_heads", "head_dim", "linear_key_head_dim", "linear_value_head_dim",
        "linear_conv_kernel_dim", "num_experts_per_tok"}) {
    SCOPED_TRACE(field);
    const std::string expected = config_["text_config"][field].dump();
    refuses({std::string("text_config.") + field, "expected " + expected, "found 77", "Qwen3.6-35B-A3B"},
            [&](json& text) { text[field] = 77; });
    refuses({field, "found nothing"}, [&](json& text) { text.erase(field); });
    refuses({field, "found \"2048\""}, [&](json& text) { text[field] = "2048"; });
    refuses({field, "whole number"}, [&](json& text) { text[field] = 2048.5; });
  }
}

TEST_F(ConfigTest, OtherArchitecturesAreRefused) {
  refuses({"model_type", "\"qwen3_5_moe_text\"", "llama"}, [](json& text) { text["model_type"] = "llama"; });
  refuses({"hidden_act", "gelu"}, [](json& text) { text["hidden_act"] = "gelu"; });
  refuses({"output_gate_type", "tanh"}, [](json& text) { text["output_gate_type"] = "tanh"; });
  refuses({"attn_output_gate", "expected true"}, [](json& text) { text["attn_output_gate"] = false; });
  refuses({"attention_bias", "expected false"}, [](json& text) { text["attention_bias"] = true; });
  refuses({"norm_topk_prob", "expected true"}, [](json& text) { text["norm_topk_prob"] = false; });
  refuses({"tie_word_embeddings"}, [](json& text) { text["tie_word_embeddings"] = true; });
  refuses({"rms_norm_eps", "1e-06", "1e-05"}, [](json& text) { text["rms_norm_eps"] = 1e-5; });
  refuses({"layer_types", "layer 3", "linear_attention"},
          [](json& text) { text["layer_types"][3] = "linear_attention"; });
  refuses({"layer_types", "40"}, [](json& text) { text["layer_types"].erase(0); });
  refuses({"full_attention_interval", "found 5"}, [](json& text) {
    text.erase("layer_types");
    text["full_attention_interval"] = 5;
  });
  config_["model_type"] = "qwen3_vl";
  expect_error(kUnsupported, {"config.json: model_type", "qwen3_5_moe", "qwen3_vl"}, [&] { read(); });
}

TEST_F(ConfigTest, OutputGateNamesOfTheFamilyAreAccepted) {
  for (const char* name : {"swish", "silu"}) {
    config_["text_config"]["output_gate_type"] = name;
    EXPECT_NO_THROW(read());
  }
  config_["text_config"]["output_gate_type"] = nullptr;
  EXPECT_NO_THROW(read());
}

TEST_F(ConfigTest, RotaryEmbedding) {
  refuses({"rope_parameters.rope_type", "default", "yarn"},
          [](json& text) { text["rope_parameters"]["rope_type"] = "yarn"; });
  refuses({"rope_parameters.type", "linear"}, [](json& text) { text["rope_parameters"]["type"] = "linear"; });
  refuses({"rope_theta", "1e+07", "10000"},
          [](json& text) { text["rope_parameters"]["rope_theta"] = 10000; });
  refuses({"partial_rotary_factor", "0.25", "0.5"},
          [](json& text) { text["rope_parameters"]["partial_rotary_factor"] = 0.5; });
  refuses({"rope_theta", "nothing"}, [](json& text) { text.erase("rope_parameters"); });
  config_["text_config"].erase("rope_parameters");  // the older spelling
  config_["text_config"]["rope_theta"] = 1e7;
  config_["text_config"]["rope_scaling"] = nullptr;
  EXPECT_NO_THROW(read());
  refuses({"rope_scaling.type", "yarn"}, [](json& text) {
    text["rope_scaling"] = {{"type", "yarn"}, {"factor", 4}};
  });
}

TEST_F(ConfigTest, ContextIsTheSmallerOfFileAndShape) {
  config_["text_config"]["max_position_embeddings"] = 1010000;
  EXPECT_EQ(read().max_context, 262144);
  config_["text_config"]["max_position_embeddings"] = 4096;
  EXPECT_EQ(read().max_context, 4096);
  refuses({"max_position_embeddings"}, [](json& text) { text["max_position_embeddings"] = 0; });
}

TEST_F(ConfigTest, Quantization) {
  config_["quantization_config"] = {{"quant_method", "fp8"}};
  expect_error(kUnsupported, {"quant_method", "fp8", "MLX"}, [&] { read(); });
  config_["quantization_config"] = {{"bits", 4}, {"group_size", 64}, {"layers.0.mlp.gate", false}};
  EXPECT_FALSE(read().quantization.of("model.layers.0.mlp.gate").has_value());
  EXPECT_EQ(read().quantization.of("model.layers.1.mlp.gate")->bits, 4);
  config_["quantization"] = {{"bits", 8}, {"group_size", 32}, {"mode", "mxfp4"}};
  expect_error(kUnsupported, {"quantization.mode", "affine", "mxfp4"}, [&] { read(); });
  config_["quantization"] = {
      {"bits", 4}, {"group_size", 64}, {"layers.0.mlp.gate", {{"bits", "x"}, {"group_size", 64}}}};
  expect_error(kUnsupported, {"layers.0.mlp.gate.bits"}, [&] { read(); });
  config_["quantization"] = 4;
  expect_error(kUnsupported, {"quantization", "an object"}, [&] { read(); });
}

TEST_F(ConfigTest, DamagedFiles) {
  expect_error(ErrorKind::kNotFound, {"config.json"}, [&] { read_model_config(directory_.path()); });
  const std::string whole = config_.dump();
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("null"), whole.substr(0, whole.size() / 2),
        std::string(1000, '{'), std::string("{\"a\":\xff}"), std::string("{\"a\":1,\"a\":2}")}) {
    directory_.write("config.json", text);
    expect_error(ErrorKind::kBadCheckpoint, {"config.json"}, [&] { read_model_config(directory_.path()); });
  }
  directory_.write("config.json", std::string(5 << 20, ' '));
  expect_error(ErrorKind::kBadCheckpoint, {"at most"}, [&] { read_model_config(directory_.path()); });
}

TEST_F(ConfigTest, GenerationDefaults) {
  const ModelConfig model = read();
  std::filesystem::copy_file(checkpoint_data("qwen36_generation_config.json"),
                             directory_.file("generation_config.json"));
  const GenerationConfig config = read_generation_config(directory_.path(), model);
  EXPECT_THAT(config.eos_ids, ElementsAre(248046, 248044));
  EXPECT_EQ(config.temperature, 1.0);
  EXPECT_EQ(config.top_k, 20);
  EXPECT_EQ(config.top_p, 0.95);
  EXPECT_EQ(config.do_sample, true);
  EXPECT_FALSE(config.presence_penalty.has_value());
  EXPECT_FALSE(config.min_p.has_value());
}

TEST_F(ConfigTest, EndTokensComeFromEitherFile) {
  EXPECT_THAT(read_generation(R"({"eos_token_id":5})").eos_ids, ElementsAre(5));
  EXPECT_THAT(read_generation("{}").eos_ids, ElementsAre(248044));
  std::filesystem::remove(directory_.file("generation_config.json"));
  EXPECT_THAT(read_generation_config(directory_.path(), read()).eos_ids, ElementsAre(248044));
  config_["text_config"].erase("eos_token_id");
  expect_error(ErrorKind::kBadCheckpoint, {"eos_token_id", "never end"}, [&] { read_generation("{}"); });
}

TEST_F(ConfigTest, AGenerationFileThatCannotBeReachedIsNamed) {
  const ModelConfig model = read();
  std::filesystem::create_symlink("generation_config.json", directory_.file("generation_config.json"));
  expect_error(ErrorKind::kNotFound, {"generation_config.json", "cannot open"},
               [&] { read_generation_config(directory_.path(), model); });
}

TEST_F(ConfigTest, GenerationValuesOutOfRange) {
  for (const char* text :
       {R"({"eos_token_id":248320})", R"({"eos_token_id":-1})", R"({"eos_token_id":[1,"2"]})",
        R"({"temperature":-1})", R"({"temperature":"hot"})", R"({"top_p":1.5})", R"({"top_k":-3})",
        R"({"min_p":2})", R"({"repetition_penalty":0})", "[", "3"}) {
    SCOPED_TRACE(text);
    expect_error(ErrorKind::kBadCheckpoint, {"generation_config.json"}, [&] { read_generation(text); });
  }
}

// Any bytes of a valid config changed, removed or inserted: read or refused with an Error, never a crash.
TEST_F(ConfigTest, RandomMutations) {
  std::ifstream in(checkpoint_data("demo_config_mlx.json"));
  const std::string whole = json::parse(in).dump();
  std::mt19937 random(20260611);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string mutant = whole;
    const int n_changes = 1 + static_cast<int>(random() % 3);
    for (int change = 0; change < n_changes; ++change) {
      const size_t position = random() % mutant.size();
      switch (random() % 3) {
        case 0: mutant[position] = "0123456789{}[]\",:-eE.tfn\\\xff"[random() % 26]; break;
        case 1: mutant.erase(position, 1 + random() % 8); break;
        default: mutant.insert(position, mutant.substr(random() % mutant.size(), random() % 20)); break;
      }
    }
    directory_.write("config.json", mutant);
    directory_.write("generation_config.json", mutant);
    try {
      read_generation_config(directory_.path(), read_model_config(directory_.path()));
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace orfebre
