#include "server/api/sampling_request.h"

#include "server/api/api_error.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace orfebre::api {
namespace {

constexpr size_t kMaxStops = 16;
constexpr size_t kMaxStopBytes = 1024;

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

}  // namespace

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

int read_max_tokens(const ObjectReader& body, std::initializer_list<const char*> names) {
  for (const char* name : names) {
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

bool read_include_usage(const ObjectReader& body) {
  const auto options = body.object("stream_options");
  return options && options->boolean("include_usage").value_or(false);
}

std::vector<std::string> read_stop(const ObjectReader& body, std::string_view name) {
  std::vector<std::string> stops;
  const PyJson* value = body.find(name);
  if (!value) {
    return stops;
  }
  const auto add = [&](const PyJson& item) {
    if (!item.is_string()) {
      fail_param(body.path_of(name), "expected a string or an array of strings, found {}", kind_name(item));
    }
    if (item.text.size() > kMaxStopBytes) {
      fail_param(body.path_of(name), "expected at most {} bytes a string, found {}", kMaxStopBytes,
                 item.text.size());
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
    fail_param(body.path_of(name), "expected at most {} strings, found {}", kMaxStops, value->items.size());
  }
  for (const PyJson& item : value->items) {
    add(item);
  }
  return stops;
}

}  // namespace orfebre::api
