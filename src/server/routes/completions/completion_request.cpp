#include "server/routes/completions/completion_request.h"

#include "server/api/api_error.h"

#include <limits>

namespace orfebre::api {
namespace {

bool is_number(const PyJson& value) {
  return value.kind == PyJson::Kind::kInteger || value.kind == PyJson::Kind::kFloat;
}

std::vector<int32_t> read_ids(const PyJson& list, const std::string& path) {
  std::vector<int32_t> ids;
  ids.reserve(list.items.size());
  for (size_t i = 0; i < list.items.size(); ++i) {
    const int64_t id =
        read_integer(list.items[i], fmt::format("{}[{}]", path, i), 0, std::numeric_limits<int32_t>::max());
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

// A text, an array of token ids, or an array of either.
std::vector<CompletionRequest::Prompt> read_prompts(const ObjectReader& body) {
  const PyJson* value = body.find("prompt");
  if (!value) {
    fail_param("prompt", "expected a text or token ids, found nothing");
  }
  if (value->is_string()) {
    return {value->text};
  }
  if (value->kind != PyJson::Kind::kArray || value->items.empty()) {
    fail_param("prompt", "expected a text, an array of texts or token ids, found {}",
               value->kind == PyJson::Kind::kArray ? "an empty array" : kind_name(*value));
  }
  if (is_number(value->items.front())) {
    return {read_ids(*value, "prompt")};
  }
  std::vector<CompletionRequest::Prompt> prompts;
  for (size_t i = 0; i < value->items.size(); ++i) {
    const PyJson& item = value->items[i];
    const std::string path = fmt::format("prompt[{}]", i);
    if (item.is_string()) {
      prompts.emplace_back(item.text);
    } else if (item.kind == PyJson::Kind::kArray) {
      prompts.emplace_back(read_ids(item, path));
    } else {
      fail_param(path, "expected a text or an array of token ids, found {}", kind_name(item));
    }
  }
  return prompts;
}

// A number of alternatives, or a boolean as in chats.
int read_logprobs(const ObjectReader& body) {
  const PyJson* value = body.find("logprobs");
  if (!value) {
    return -1;
  }
  if (value->kind == PyJson::Kind::kBool) {
    return value->boolean ? 0 : -1;
  }
  return static_cast<int>(*body.integer("logprobs", 0, kMaxTopLogprobs));
}

void refuse_unsupported(const ObjectReader& body, const CompletionRequest& request) {
  const auto best_of = body.integer("best_of", 1, 128);
  if (best_of && *best_of != request.n_replies) {
    fail_unsupported("best_of", "this server returns every reply that it makes: send \"n\" instead");
  }
  if (request.echo && request.n_top_logprobs >= 0) {
    fail_unsupported("echo", "the prompt's own logprobs are not computed: leave out echo or logprobs");
  }
  if (request.prompts.size() * static_cast<size_t>(request.n_replies) > kMaxChoices) {
    fail_param("prompt", "expected at most {} choices (prompts times n), found {}", kMaxChoices,
               request.prompts.size() * static_cast<size_t>(request.n_replies));
  }
  if (request.suffix && !std::holds_alternative<std::string>(request.prompts.front())) {
    fail_param("suffix", "expected a prompt of text beside it, found token ids");
  }
}

}  // namespace

CompletionRequest parse_completion_request(std::string_view text) {
  const PyJson json = parse_body(text);
  const ObjectReader body(json, "");
  CompletionRequest request;
  request.prompts = read_prompts(body);
  if (const auto suffix = body.string("suffix"); suffix && !suffix->empty()) {
    request.suffix = suffix;
  }
  request.n_replies = static_cast<int>(body.integer("n", 1, kMaxReplies).value_or(1));
  request.echo = body.boolean("echo").value_or(false);
  request.stream = body.boolean("stream").value_or(false);
  request.include_usage = read_include_usage(body);
  request.max_tokens = read_max_tokens(body, {"max_tokens", "max_completion_tokens", "n_predict"});
  request.sampling = read_sampling(body);
  request.stop = read_stop(body, "stop");
  request.n_top_logprobs = read_logprobs(body);
  request.loop_guard = body.boolean("loop_guard");
  refuse_unsupported(body, request);
  return request;
}

}  // namespace orfebre::api
