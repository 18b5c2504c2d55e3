#include "verify/golden.h"

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace orfebre {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMaxFileBytes = 256u << 20;

// One file while it is being read, for errors.
struct Source {
  std::string path;
  int vocab;

  [[noreturn]] void refuse(const std::string& expected) const {
    fail(ErrorKind::kInvalidRequest, "{}: expected {}; make it with tools/goldens/make_goldens.py", path,
         expected);
  }

  const json& field(const json& object, const char* name) const {
    const auto entry = object.is_object() ? object.find(name) : object.end();
    if (!object.is_object() || entry == object.end()) {
      refuse(fmt::format("a field \"{}\"", name));
    }
    return *entry;
  }

  std::string text(const json& object, const char* name) const {
    const json& value = field(object, name);
    if (!value.is_string()) {
      refuse(fmt::format("text in \"{}\"", name));
    }
    return value.get<std::string>();
  }

  int32_t id(const json& value) const {
    if (!value.is_number_integer() || value < 0 || value >= vocab) {
      refuse(fmt::format("token ids from 0 to {}", vocab - 1));
    }
    return value.get<int32_t>();
  }
};

GoldenStep parse_step(const Source& source, const json& value) {
  GoldenStep step;
  step.chosen = source.id(source.field(value, "chosen"));
  for (const json& pair : source.field(value, "topk")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number()) {
      source.refuse("pairs of id and log-probability in \"topk\"");
    }
    const double logprob = pair[1].get<double>();
    if (!std::isfinite(logprob) || logprob > 1e-3) {
      source.refuse("log-probabilities of at most 0");
    }
    step.top.emplace_back(source.id(pair[0]), logprob);
  }
  if (step.top.empty()) {
    source.refuse("at least one pair in \"topk\"");
  }
  std::stable_sort(step.top.begin(), step.top.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  for (size_t i = 1; i < step.top.size(); ++i) {
    const auto same_id = [&](const auto& other) { return other.first == step.top[i].first; };
    if (std::any_of(step.top.begin(), step.top.begin() + static_cast<ptrdiff_t>(i), same_id)) {
      source.refuse("every id once in a \"topk\"");
    }
  }
  return step;
}

Golden parse_golden(const Source& source, const json& root) {
  Golden golden;
  golden.name = fs::path(source.path).stem().string();
  golden.model = source.text(root, "model");
  golden.version = source.text(root, "mlx_lm_version");
  golden.dtype = root.contains("dtype") ? source.text(root, "dtype") : "";
  const json& chat = source.field(root, "chat_template");
  if (!chat.is_boolean()) {
    source.refuse("true or false in \"chat_template\"");
  }
  golden.chat = chat.get<bool>();
  golden.prompt = source.text(root, "prompt");
  for (const json& id : source.field(root, "prompt_token_ids")) {
    golden.prompt_ids.push_back(source.id(id));
  }
  for (const json& step : source.field(root, "steps")) {
    golden.steps.push_back(parse_step(source, step));
  }
  if (golden.prompt_ids.empty() || golden.steps.empty()) {
    source.refuse("at least one prompt id and one step");
  }
  return golden;
}

json read_json(const Source& source) {
  std::error_code error;
  if (fs::file_size(source.path, error) > kMaxFileBytes || error) {
    source.refuse(fmt::format("a file of at most {} bytes", kMaxFileBytes));
  }
  std::ifstream file(source.path, std::ios::binary);
  json root = json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    source.refuse("JSON");
  }
  return root;
}

}  // namespace

std::vector<Golden> read_goldens(const std::string& directory, int vocab) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".json") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Golden> goldens;
  for (const std::string& path : paths) {
    const Source source{path, vocab};
    const json root = read_json(source);
    if (root.is_object()) {
      goldens.push_back(parse_golden(source, root));
    }
  }
  if (goldens.empty()) {
    fail(ErrorKind::kNotFound,
         "{}: expected a directory with goldens (*.json of tools/goldens/make_goldens.py)", directory);
  }
  return goldens;
}

}  // namespace orfebre
