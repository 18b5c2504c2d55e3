#include "server/api/chat_request.h"

#include "server/api/api_error.h"
#include "server/api/messages.h"
#include "server/api/request_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <random>

namespace orfebre::api {
namespace {

constexpr size_t kMaxStops = 16;
constexpr size_t kMaxStopBytes = 1024;
constexpr int kMaxTopLogprobs = 20;

std::optional<float> read_float(const ObjectReader& body, std::string_view name, double low, double high) {
  const auto value = body.number(name, low, high);
  return value ? std::optional<float>(static_cast<float>(*value)) : std::nullopt;
}

std::vector<std::pair<int32_t, float>> read_logit_bias(const ObjectReader& body) {
  std::vector<std::pair<int32_t, float>> biases;
  const auto map = body.object("logit_bias");
  if (!map) {
    return biases;
  }
  if (map->json().members.size() > kMaxLogitBiases) {
    fail_param("logit_bias", "expected at most {} tokens, found {}", kMaxLogitBiases,
               map->json().members.size());
  }
  for (const auto& [name, value] : map->json().members) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || end != name.data() + name.size() || id < 0) {
      fail_param("logit_bias", "expected token ids as keys, found another key");
    }
    biases.emplace_back(id, static_cast<float>(read_number(value, "logit_bias", -100, 100)));
  }
  return biases;
}

// Any 64-bit pattern: negative seeds and those above 2^63 are as good as others.
std::optional<uint64_t> read_seed(const ObjectReader& body) {
  const PyJson* value = body.find("seed");
  if (!value) {
    return std::nullopt;
  }
  uint64_t seed = 0;
  const auto [end, error] =
      std::from_chars(value->text.data(), value->text.data() + value->text.size(), seed);
  if (value->kind == PyJson::Kind::kInteger && error == std::errc() &&
      end == value->text.data() + value->text.size()) {
    return seed;
  }
  return static_cast<uint64_t>(
      *body.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
}

SamplingFields read_sampling(const ObjectReader& body) {
  SamplingFields fields;
  fields.temperature = read_float(body, "temperature", 0, 2);
  fields.top_p = read_float(body, "top_p", 0, 1);
  fields.min_p = read_float(body, "min_p", 0, 1);
  fields.presence_penalty = read_float(body, "presence_penalty", -2, 2);
  fields.frequency_penalty = read_float(body, "frequency_penalty", -2, 2);
  fields.repetition_penalty = read_float(body, "repetition_penalty", 0.01, 10);
  if (!fields.repetition_penalty) {
    fields.repetition_penalty = read_float(body, "repeat_penalty", 0.01, 10);
  }
  if (const auto top_k = body.integer("top_k", -1, std::numeric_limits<int32_t>::max())) {
    fields.top_k = static_cast<int>(std::max<int64_t>(*top_k, 0));
  }
  fields.seed = read_seed(body);
  fields.logit_bias = read_logit_bias(body);
  return fields;
}

// 0 for no limit. More than an int holds is more than any context.
int read_max_tokens(const ObjectReader& body) {
  for (const char* name : {"max_completion_tokens", "max_tokens"}) {
    const auto limit = body.integer(name, -1, std::numeric_limits<int64_t>::max());
    if (!limit || *limit == -1) {
      continue;
    }
    if (*limit == 0) {
      fail_param(name, "expected at least 1 (or -1 for no limit), found 0");
    }
    return static_cast<int>(std::min<int64_t>(*limit, std::numeric_limits<int>::max()));
  }
  return 0;
}

std::vector<std::string> read_stop(const ObjectReader& body) {
  std::vector<std::string> stops;
  const PyJson* value = body.find("stop");
  if (!value) {
    return stops;
  }
  const auto add = [&](const PyJson& item) {
    if (!item.is_string()) {
      fail_param("stop", "expected a string or an array of strings, found {}", kind_name(item));
    }
    if (item.text.size() > kMaxStopBytes) {
      fail_param("stop", "expected at most {} bytes a string, found {}", kMaxStopBytes, item.text.size());
    }
    if (!item.text.empty()) {
      stops.push_back(item.text);
    }
  };
  if (value->kind != PyJson::Kind::kArray) {
    add(*value);
    return stops;
  }
  if (value->items.size() > kMaxStops) {
    fail_param("stop", "expected at most {} strings, found {}", kMaxStops, value->items.size());
  }
  for (const PyJson& item : value->items) {
    add(item);
  }
  return stops;
}

int read_top_logprobs(const ObjectReader& body) {
  const bool wanted = body.boolean("logprobs").value_or(false);
  const auto n_top = body.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (!wanted) {
    if (n_top.value_or(0) > 0) {
      fail_param("top_logprobs", "expected \"logprobs\": true beside it");
    }
    return -1;
  }
  return static_cast<int>(n_top.value_or(0));
}

// Every way in which clients ask for thinking or against it, the most specific first.
std::optional<bool> read_enable_thinking(const ObjectReader& body) {
  if (const auto kwargs = body.object("chat_template_kwargs")) {
    if (const auto value = kwargs->boolean("enable_thinking")) {
      return value;
    }
  }
  if (const auto value = body.boolean("enable_thinking")) {
    return value;
  }
  if (const auto thinking = body.object("thinking")) {
    if (const auto type = thinking->string("type")) {
      return *type != "disabled";
    }
  }
  auto effort = body.string("reasoning_effort");
  if (!effort) {
    if (const auto reasoning = body.object("reasoning")) {
      effort = reasoning->string("effort");
    }
  }
  if (effort) {
    return *effort != "none";
  }
  return std::nullopt;
}

bool read_preserve_thinking(const ObjectReader& body) {
  if (const auto kwargs = body.object("chat_template_kwargs")) {
    if (const auto value = kwargs->boolean("preserve_thinking")) {
      return *value;
    }
  }
  return body.boolean("preserve_thinking").value_or(false);
}

std::vector<std::string> read_tools(const ObjectReader& body) {
  std::vector<std::string> tools;
  const PyJson* list = body.array("tools");
  if (!list) {
    return tools;
  }
  for (size_t i = 0; i < list->items.size(); ++i) {
    const PyJson& tool = list->items[i];
    const std::string path = fmt::format("tools[{}]", i);
    if (!tool.is_object()) {
      fail_param(path, "expected an object, found {}", kind_name(tool));
    }
    const ObjectReader reader(tool, path);
    if (reader.string("type").value_or("function") != "function") {
      continue;
    }
    const auto function = reader.object("function");
    if (!function) {
      fail_param(path + ".function", "expected an object, found nothing");
    }
    if (function->string("name").value_or("").empty()) {
      fail_param(path + ".function.name", "expected a name, found none");
    }
    function->object("parameters");
    tools.push_back(python_json_dumps(tool));
  }
  return tools;
}

void refuse_unsupported(const ObjectReader& body) {
  if (const auto n = body.integer("n", 1, 128); n && *n != 1) {
    fail_unsupported("n", "this server gives one reply a request: send 1 or leave it out, found {}", *n);
  }
  for (const char* name : {"functions", "audio"}) {
    if (const PyJson* value = body.find(name); value && !(value->items.empty() && value->members.empty())) {
      fail_unsupported(name, "not supported; functions are declared in \"tools\"");
    }
  }
}

uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace

ChatRequest parse_chat_request(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  ChatRequest request;
  request.model = body.string("model").value_or("");
  refuse_unsupported(body);
  request.stream = body.boolean("stream").value_or(false);
  if (const auto options = body.object("stream_options")) {
    request.include_usage = options->boolean("include_usage").value_or(false);
  }
  request.max_tokens = read_max_tokens(body);
  request.sampling = read_sampling(body);
  request.stop = read_stop(body);
  request.n_top_logprobs = read_top_logprobs(body);
  request.enable_thinking = read_enable_thinking(body);
  request.preserve_thinking = read_preserve_thinking(body);
  request.answer = read_answer_request(body);
  request.tools = read_tools(body);
  if (!request.answer.tools_in_force) {
    request.tools.clear();
  }
  request.messages = read_messages(body);
  return request;
}

SamplingParams resolve_sampling(const SamplingFields& fields, const SamplingParams& defaults) {
  SamplingParams params = defaults;
  params.temperature = fields.temperature.value_or(defaults.temperature);
  if (params.temperature == 0.0f) {
    params.presence_penalty = 0.0f;
    params.frequency_penalty = 0.0f;
    params.repetition_penalty = 1.0f;
  }
  params.top_k = fields.top_k.value_or(params.top_k);
  // 0 means the most probable token alone, as does any value below its probability.
  params.top_p = std::max(fields.top_p.value_or(params.top_p), 1e-6f);
  params.min_p = std::min(fields.min_p.value_or(params.min_p), 0.999999f);
  params.presence_penalty = fields.presence_penalty.value_or(params.presence_penalty);
  params.frequency_penalty = fields.frequency_penalty.value_or(params.frequency_penalty);
  params.repetition_penalty = fields.repetition_penalty.value_or(params.repetition_penalty);
  params.seed = fields.seed ? *fields.seed : random_seed();
  params.logit_bias = fields.logit_bias;
  return params;
}

}  // namespace orfebre::api
