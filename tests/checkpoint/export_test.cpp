// Exported directories against the bytes of mlx-lm's converter; failures leave nothing behind.
#include "checkpoint/export.h"

#include "checkpoint/affine.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/synthetic_checkpoint.h"
#include "checkpoint/test_files.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace orfebre {
namespace {

using nlohmann::json;

json read_json(const std::string& path) {
  std::ifstream in(path);
  return json::parse(in);
}

class ExportTest : public testing::Test {
 protected:
  std::string destination() const { return directory_.file("out"); }
  bool nothing_left() const {
    return !std::filesystem::exists(destination()) && !std::filesystem::exists(destination() + ".partial");
  }
  // A source with the shared weights (hard-linked, so cheap) whose other files may be changed.
  std::string own_source() {
    const std::string path = directory_.file("source");
    std::filesystem::create_directory(path);
    std::filesystem::create_hard_link(shared_hugging_face_directory(false) + "/model.safetensors",
                                      path + "/model.safetensors");
    copy_config(path, "demo_config.json");
    return path;
  }

  TempDirectory directory_;
};

// tools/checkpoint/make_export_fixture.py ran mlx-lm's converter on the same two checkpoints.
TEST_F(ExportTest, EveryTensorHasTheBytesOfMlxLmsConverter) {
  const json fixture = read_json(checkpoint_data("export_fixture.json"));
  for (const bool all_f32 : {false, true}) {
    const std::string out = destination() + (all_f32 ? "_f32" : "_bf16");
    const ExportSummary summary = export_quantized(shared_hugging_face_directory(all_f32), out);
    const TestTensors tensors = read_tensors(out);
    const json& expected = fixture.at(all_f32 ? "f32" : "bf16");
    EXPECT_EQ(tensors.size(), expected.size());
    EXPECT_EQ(static_cast<size_t>(summary.n_tensors), expected.size());
    for (const auto& [name, listed] : expected.items()) {
      const auto found = tensors.find(name);
      ASSERT_NE(found, tensors.end()) << name;
      const TestTensor& tensor = found->second;
      EXPECT_EQ(fmt::format("{} {} {:08x}", dtype_name(tensor.dtype), shape_text(tensor.shape),
                            crc32(tensor.bytes)),
                listed.get<std::string>())
          << name;
    }
  }
}

TEST_F(ExportTest, ConfigSaysWhatTheConverterSays) {
  export_quantized(shared_hugging_face_directory(false), destination());
  EXPECT_EQ(read_json(destination() + "/config.json"), read_json(checkpoint_data("demo_config_mlx.json")));
}

TEST_F(ExportTest, EndTokensOfTheGenerationConfigReachTheConfig) {
  const std::string source = own_source();
  std::ofstream(source + "/generation_config.json") << R"({"eos_token_id":[7,9]})";
  std::ofstream(source + "/tokenizer.json") << "{}";
  std::ofstream(source + "/chat_template.jinja") << "template";
  std::ofstream(source + "/secret.txt") << "not ours";
  export_quantized(source, destination() + "/");
  EXPECT_EQ(read_json(destination() + "/config.json")["eos_token_id"], json({7, 9}));
  EXPECT_TRUE(std::filesystem::exists(destination() + "/tokenizer.json"));
  EXPECT_TRUE(std::filesystem::exists(destination() + "/chat_template.jinja"));
  EXPECT_FALSE(std::filesystem::exists(destination() + "/secret.txt"));
  EXPECT_FALSE(std::filesystem::exists(destination() + ".partial"));
}

// Loading the exported directory gives what quantising the original while loading gives; only the norms'
// multipliers differ, by their rounding to bf16.
TEST_F(ExportTest, LoadsBackAsTheSameWeights) {
  export_quantized(shared_hugging_face_directory(false), destination());
  Checkpoint original(shared_hugging_face_directory(false), {.quantize_dense = true});
  Checkpoint exported(destination());
  EXPECT_TRUE(exported.convention().converted);
  EXPECT_EQ(exported.total_bytes(), original.total_bytes());
  for (const MatrixSpec& spec : matrix_specs(original.shape())) {
    const StoredMatrix stored_left = read_matrix(original, spec);
    const AffineTensor& left = stored_left.view;
    const StoredMatrix stored_right = read_matrix(exported, spec);
    const AffineTensor& right = stored_right.view;
    const auto count = static_cast<size_t>(spec.n_matrices) * static_cast<size_t>(spec.n_out) *
                       static_cast<size_t>(spec.n_in);
    ASSERT_EQ(left.bits, right.bits);
    EXPECT_EQ(std::memcmp(left.codes, right.codes, count * static_cast<size_t>(left.bits) / 8), 0);
    EXPECT_EQ(std::memcmp(left.scales, right.scales, count / 64 * 2), 0);
    EXPECT_EQ(std::memcmp(left.biases, right.biases, count / 64 * 2), 0);
  }
  for (const VectorSpec& spec : vector_specs(original.shape())) {
    std::vector<float> expected = original.read_vector(spec);
    if (spec.role != VectorRole::kGdnALog) {
      for (float& value : expected) {
        value = to_f32(to_bf16(value));
      }
    }
    EXPECT_EQ(exported.read_vector(spec), expected) << weight_name(spec.role, spec.layer);
  }
}

TEST_F(ExportTest, ShardsHoldTheSameTensorsAndProgressReachesTheEnd) {
  uint64_t last_done = 0;
  uint64_t last_total = 1;
  ExportOptions options;
  options.max_shard_bytes = 3 << 20;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GT(done, last_done);
    last_done = done;
    last_total = total;
  };
  const ExportSummary summary =
      export_quantized(shared_hugging_face_directory(false), destination(), options);
  EXPECT_GT(summary.n_files, 3);
  EXPECT_EQ(last_done, last_total);
  EXPECT_EQ(summary.tensor_bytes, last_total);
  export_quantized(shared_hugging_face_directory(false), directory_.file("whole"));
  const TestTensors whole = read_tensors(directory_.file("whole"));
  const TestTensors split = read_tensors(destination());
  ASSERT_EQ(whole.size(), split.size());
  for (const auto& [name, tensor] : whole) {
    EXPECT_TRUE(split.at(name).bytes == tensor.bytes) << name;
  }
  Checkpoint checkpoint(destination());
  EXPECT_EQ(checkpoint.files().files().size(), static_cast<size_t>(summary.n_files));
}

TEST_F(ExportTest, RefusesWhatItCannotOrMustNotWrite) {
  export_quantized(shared_hugging_face_directory(false), destination());
  expect_error(ErrorKind::kInvalidRequest, {"out", "does not exist yet"},
               [&] { export_quantized(shared_hugging_face_directory(false), destination()); });
  expect_error(ErrorKind::kUnsupported, {"unquantised", "found 4 bits"},
               [&] { export_quantized(destination(), directory_.file("again")); });
  expect_error(ErrorKind::kInvalidRequest, {"cannot write there"}, [&] {
    export_quantized(shared_hugging_face_directory(false), directory_.file("no/such/place"));
  });
  std::filesystem::create_directory(directory_.file("busy.partial"));
  expect_error(ErrorKind::kInvalidRequest, {"busy.partial"},
               [&] { export_quantized(shared_hugging_face_directory(false), directory_.file("busy")); });
  EXPECT_TRUE(std::filesystem::exists(directory_.file("busy.partial")));
}

TEST_F(ExportTest, CancelAndErrorsLeaveNothingBehind) {
  std::atomic<bool> cancel{false};
  ExportOptions options;
  options.cancel = &cancel;
  options.progress = [&](uint64_t done, uint64_t total) { cancel = done > total / 2; };
  expect_error(ErrorKind::kInvalidRequest, {"cancelled"},
               [&] { export_quantized(shared_hugging_face_directory(false), destination(), options); });
  EXPECT_TRUE(nothing_left());

  const std::string source = directory_.file("source");
  std::filesystem::create_directory(source);
  copy_config(source, "demo_config.json");
  TestTensors tensors = hugging_face_tensors(describe<Demo>(), false, false);
  TestTensor& last = tensors["lm_head.weight"];
  last.bytes.assign(plan_bytes({"", last.dtype, last.shape}), '\0');
  last.bytes[last.bytes.size() - 1] = '\x7f';
  last.bytes[last.bytes.size() - 2] = '\x80';  // +infinity
  write_tensors(source, tensors);
  expect_error(ErrorKind::kBadCheckpoint, {"lm_head.weight", "NaN or infinity"},
               [&] { export_quantized(source, destination()); });
  EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace orfebre
