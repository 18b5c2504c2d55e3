// A piece of a rendered prompt: who wrote its bytes decides whether control tokens may come out of it.
#pragma once

#include <string>

namespace orfebre::text {

// Control pieces are written by the template (turn markers, <think>, tool-call markup, the tools preamble);
// the others come from the client or the model and are encoded with control tokens disabled, so a message
// that contains "<|im_end|>" is ordinary text and can never close a turn.
struct Segment {
  std::string text;
  bool is_control = false;
};

}  // namespace orfebre::text
