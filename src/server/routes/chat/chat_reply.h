// The JSON of chat completions: chunks of a stream and whole replies. Each function returns one JSON text;
// sse.h frames it.
//
// Beyond OpenAI's own fields: reasoning_content beside content, and "timings" in the last chunk and in whole
// replies: queue_ms, prefill_ms, decode_ms, prefill_tokens (prompt tokens that were computed),
// cached_tokens (those that were not), decode_tokens, prefill_tokens_per_second, decode_tokens_per_second.
// Logprobs cover every token of the reply, thinking and markup included, in order.
#pragma once

#include "server/reply/reply_parts.h"

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

struct ToolCallReply {
  std::string id;
  std::string name;
  std::string arguments_json;
};

struct WholeReply {
  std::string reasoning;
  std::string content;
  std::vector<ToolCallReply> tool_calls;
  std::string_view finish_reason;
  bool has_logprobs = false;
  std::vector<TokenLogprob> logprobs;
  ReplyUsage usage;
};

std::string role_chunk(const ReplyHead& head);
std::string reasoning_chunk(const ReplyHead& head, std::string_view text,
                            const std::vector<TokenLogprob>& logprobs);
std::string content_chunk(const ReplyHead& head, std::string_view text,
                          const std::vector<TokenLogprob>& logprobs);
std::string tool_begin_chunk(const ReplyHead& head, int index, std::string_view call_id,
                             std::string_view name);
std::string tool_arguments_chunk(const ReplyHead& head, int index, std::string_view arguments);
std::string finish_chunk(const ReplyHead& head, std::string_view finish_reason,
                         const std::vector<TokenLogprob>& logprobs, const ReplyUsage& usage);
std::string usage_chunk(const ReplyHead& head, const ReplyUsage& usage);
std::string whole_reply(const ReplyHead& head, const WholeReply& reply);

}  // namespace orfebre::api
