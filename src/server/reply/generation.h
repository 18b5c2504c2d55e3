// From a request of any API to running replies. A route reads its client's JSON into a ChatRequest or a
// prompt, makes a Generation of it, and says by a ReplySink how the reply is written; all between is here.
#pragma once

#include "engine/request.h"
#include "server/api/chat_request.h"
#include "server/constraint/answer_policy.h"
#include "server/reply/reply_session.h"
#include "server/route.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace orfebre {

// One reply to be made.
struct Generation {
  std::vector<int32_t> prompt;
  SamplingParams sampling;
  ReplySettings reply;
  ThinkingLimit thinking;
  bool guard_loops = true;
  bool one_call = false;                              // end with the first tool call
  std::shared_ptr<const automaton::Program> grammar;  // of the answer; null: free
  std::vector<int> message_ends;                      // in the prompt: where another one may part from it
  std::vector<std::string> tools;                     // raw JSON, for the types of their arguments
};

// The part that no API has for itself: `prompt` with the request's limits, and `recommended` sampling where
// the client left it out. Throws Error(kContextLength) for a prompt that leaves no room for a reply.
Generation begin_generation(const ServerContext& context, std::vector<int32_t> prompt,
                            const api::ReplyRequest& request, const SamplingParams& recommended);
// Renders and encodes the conversation and fills in what the client left out. Throws Error: kContextLength
// when the prompt does not fit, kInvalidRequest and kUnsupported for what cannot be rendered.
Generation make_generation(const ServerContext& context, const api::ChatRequest& chat);

// The ids of the conversation, the opening of the reply included.
std::vector<int32_t> encode_chat(const ServerContext& context, const api::ChatRequest& chat);
// Throws Error(kContextLength) for a prompt that leaves no room for a reply.
void require_room(const ServerContext& context, size_t prompt_tokens);

// The writers of the replies, one a generation, called once all are admitted: so that the head of a stream,
// which says 200, is sent at once and yet never too early.
using SinkMaker = std::function<std::vector<std::unique_ptr<ReplySink>>()>;

// Submits all of them to the engine and hands the replies over to the reply thread. When one cannot be
// admitted none is. A client that leaves cancels all.
void start_replies(const RouteCall& call, std::vector<Generation> generations, const SinkMaker& make_sinks);

}  // namespace orfebre
