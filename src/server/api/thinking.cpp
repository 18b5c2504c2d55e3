#include "server/api/thinking.h"

#include "server/api/api_error.h"

#include <limits>
#include <string>

namespace orfebre::api {
namespace {

std::optional<int> read_budget(const ObjectReader& from, std::string_view name) {
  const auto budget = from.integer(name, -1, std::numeric_limits<int32_t>::max());
  return budget ? std::optional<int>(static_cast<int>(*budget)) : std::nullopt;
}

// A member that is a boolean, or an object or text that says more.
std::optional<bool> boolean_member(const ObjectReader& body, std::string_view name) {
  const PyJson* value = body.find(name);
  return value && value->kind == PyJson::Kind::kBool ? std::optional<bool>(value->boolean) : std::nullopt;
}

void fill(ThinkingFields& fields, std::optional<bool> enabled, std::optional<int> budget = std::nullopt) {
  if (!fields.enabled) {
    fields.enabled = enabled;
  }
  if (!fields.budget_tokens) {
    fields.budget_tokens = budget;
  }
}

void fill_effort(ThinkingFields& fields, const std::optional<std::string>& effort) {
  if (effort) {
    const ThinkingFields meant = thinking_of_effort(*effort);
    fill(fields, meant.enabled, meant.budget_tokens);
  }
}

void fill_from_template(ThinkingFields& fields, const ObjectReader& body) {
  const auto kwargs = body.object("chat_template_kwargs");
  if (!kwargs) {
    return;
  }
  fill(fields, kwargs->boolean("enable_thinking"), read_budget(*kwargs, "thinking_budget"));
  fill(fields, boolean_member(*kwargs, "thinking"));
}

// Anthropic's object, or a boolean.
void fill_from_thinking(ThinkingFields& fields, const ObjectReader& body) {
  if (const auto enabled = boolean_member(body, "thinking")) {
    fill(fields, enabled);
    return;
  }
  const auto thinking = body.object("thinking");
  if (!thinking) {
    return;
  }
  const auto type = thinking->string("type");
  const bool is_off = type == "disabled";
  fill(fields, type ? std::optional<bool>(!is_off) : std::nullopt,
       is_off ? std::nullopt : read_budget(*thinking, "budget_tokens"));
}

// Ollama's: a boolean or an effort.
void fill_from_think(ThinkingFields& fields, const ObjectReader& body) {
  if (const auto enabled = boolean_member(body, "think")) {
    fill(fields, enabled);
  } else {
    fill_effort(fields, body.string("think"));
  }
}

}  // namespace

ThinkingFields thinking_of_effort(std::string_view effort) {
  if (effort == "none" || effort == "minimal") {
    return {false, std::nullopt};
  }
  if (effort == "low") {
    return {true, kLowEffort};
  }
  if (effort == "medium") {
    return {true, kMediumEffort};
  }
  return {true, std::nullopt};
}

ThinkingFields read_thinking(const ObjectReader& body) {
  ThinkingFields fields;
  fields.budget_tokens = read_budget(body, "thinking_budget");
  fill(fields, std::nullopt, read_budget(body, "reasoning_budget"));
  fill_from_template(fields, body);
  fill(fields, body.boolean("enable_thinking"));
  fill_from_thinking(fields, body);
  fill_from_think(fields, body);
  if (const auto reasoning = body.object("reasoning")) {
    fill(fields, reasoning->boolean("enabled"), read_budget(*reasoning, "max_tokens"));
    fill_effort(fields, reasoning->string("effort"));
  }
  fill_effort(fields, body.string("reasoning_effort"));
  if (fields.budget_tokens == -1) {
    fields.budget_tokens.reset();
  }
  return fields;
}

bool read_preserve_thinking(const ObjectReader& body) {
  if (const auto kwargs = body.object("chat_template_kwargs")) {
    if (const auto value = kwargs->boolean("preserve_thinking")) {
      return *value;
    }
  }
  return body.boolean("preserve_thinking").value_or(false);
}

}  // namespace orfebre::api
