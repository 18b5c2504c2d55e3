// The JSON of text completions, streamed and whole, and the sinks that write it.
#pragma once

#include "server/reply/reply_session.h"
#include "server/routes/chat/chat_reply.h"

#include <memory>
#include <string>
#include <vector>

namespace orfebre {

struct CompletionForm {
  bool stream = false;
  bool include_usage = false;
  bool has_logprobs = false;
  int n_replies = 1;                // choices a prompt
  std::vector<std::string> echoes;  // what stands before each choice's text; one a choice
};

// One sink a choice; they share the answer. A stream's head is sent at once.
std::vector<std::unique_ptr<ReplySink>> make_completion_sinks(std::shared_ptr<http::ResponseWriter> writer,
                                                              api::ReplyHead head, CompletionForm form,
                                                              std::vector<http::Header> headers);

}  // namespace orfebre
