// Whether a request wants thinking, and how much: every way in which clients say so.
#pragma once

#include "server/api/request_reader.h"

#include <optional>
#include <string_view>

namespace orfebre::api {

struct ThinkingFields {
  std::optional<bool> enabled;
  std::optional<int> budget_tokens;  // at most so many, then the answer; 0 is no thinking at all
};

// The first of these that is there decides whether:
//   chat_template_kwargs.enable_thinking (or .thinking), enable_thinking, thinking ({"type":"disabled"}, or a
//   boolean), think (a boolean or an effort), reasoning.enabled, reasoning.effort, reasoning_effort.
// And the first of these how much: thinking_budget, reasoning_budget, chat_template_kwargs.thinking_budget,
//   thinking.budget_tokens, reasoning.max_tokens, then the effort.
// Efforts: "none" and "minimal" are no thinking; "low" and "medium" budgets of kLowEffort and kMediumEffort
// tokens; anything else thinking without a budget. A budget of -1 is none.
ThinkingFields read_thinking(const ObjectReader& body);

// chat_template_kwargs.preserve_thinking or preserve_thinking.
bool read_preserve_thinking(const ObjectReader& body);

inline constexpr int kLowEffort = 2048;
inline constexpr int kMediumEffort = 8192;

// What an effort means.
ThinkingFields thinking_of_effort(std::string_view effort);

}  // namespace orfebre::api
