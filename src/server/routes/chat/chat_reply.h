// The JSON of chat completions: chunks of a stream and whole replies. Each function returns one JSON text;
// sse.h frames it.
//
// Beyond OpenAI's own fields: reasoning_content (and the same text as reasoning, which other clients read)
// beside content; finish_cause and thinking_cut beside finish_reason (reply_session.h: ReplyEnd); and
// "timings" in the last chunk and in whole replies: queue_ms, prefill_ms, decode_ms, prefill_tokens (prompt
// tokens that were computed), cached_tokens (those that were not), decode_tokens, prefill_tokens_per_second,
// decode_tokens_per_second. Logprobs cover every token of the reply, thinking and markup included, in order.
#pragma once

#include "server/api/json_writer.h"
#include "server/reply/reply_session.h"

#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

// What all chunks of a reply share.
struct ReplyHead {
  std::string id;
  int64_t created = 0;  // seconds since the epoch
  std::string model;
  std::string fingerprint;
  bool usage_field = false;  // chunks carry "usage": null until the one that has it
};

// Of one choice among the answer's.
struct ChunkPlace {
  const ReplyHead& head;
  int index = 0;
};

struct ToolCallReply {
  std::string id;
  std::string name;
  std::string arguments_json;
};

struct WholeReply {
  std::string reasoning;
  std::string content;
  std::vector<ToolCallReply> tool_calls;
  bool has_logprobs = false;
  std::vector<TokenLogprob> logprobs;
  ReplyEnd end;
};

// The sum over an answer's replies: the prompt counts once, as OpenAI's does.
ReplyUsage add_usage(const ReplyUsage& a, const ReplyUsage& b);

std::string role_chunk(const ChunkPlace& place);
std::string reasoning_chunk(const ChunkPlace& place, std::string_view text,
                            const std::vector<TokenLogprob>& logprobs);
std::string content_chunk(const ChunkPlace& place, std::string_view text,
                          const std::vector<TokenLogprob>& logprobs);
std::string tool_begin_chunk(const ChunkPlace& place, int index, std::string_view call_id,
                             std::string_view name);
std::string tool_arguments_chunk(const ChunkPlace& place, int index, std::string_view arguments);
std::string finish_chunk(const ChunkPlace& place, const ReplyEnd& end);
std::string usage_chunk(const ReplyHead& head, const ReplyUsage& usage);
std::string whole_reply(const ReplyHead& head, const std::vector<WholeReply>& replies);

// The members "usage" and "timings", for other APIs of OpenAI's.
void write_usage(JsonWriter& json, const ReplyUsage& usage);
void write_timings(JsonWriter& json, const Usage& usage);
// The members "finish_reason", "finish_cause" and, if something closed the thinking, "thinking_cut".
void write_finish(JsonWriter& json, const ReplyEnd& end);

}  // namespace orfebre::api
