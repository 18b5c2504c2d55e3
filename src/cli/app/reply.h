// One reply of a loaded model to a conversation, without HTTP: for `run` and `chat`.
#pragma once

#include "cli/app/load_model.h"
#include "cli/options.h"
#include "text/chat_template.h"
#include "text/reply_parser.h"

#include <functional>
#include <span>
#include <string>

namespace orfebre::cli {

struct Reply {
  std::string reasoning;
  std::string content;
  FinishReason finish = FinishReason::kStop;
  Usage usage;
};

// Called with each piece of text as it comes: reasoning, then content.
using ReplySink = std::function<void(text::ReplyEvent::Kind, const std::string&)>;

// Blocks until the reply has ended, or was stopped by a signal (FinishReason::kCancelled). Throws Error: the
// engine's, or a message that cannot be rendered.
Reply generate_reply(LoadedModel& model, std::span<const text::Message> messages,
                     const SamplingOptions& sampling, const ReplySink& sink);

// "42 tokens, 31.0 tok/s; prompt 20 tokens in 0.11 s".
std::string describe(const Usage& usage);

}  // namespace orfebre::cli
