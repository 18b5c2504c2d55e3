#include "server/routes/chat/chat_reply.h"

#include "text/utf8.h"

#include <algorithm>

namespace orfebre::api {
namespace {

void write_head(JsonWriter& json, const ReplyHead& head, std::string_view object) {
  json.key("id").string(head.id).key("object").string(object);
  json.key("created").integer(head.created).key("model").string(head.model);
  json.key("system_fingerprint").string(head.fingerprint);
}

void write_bytes(JsonWriter& json, std::string_view bytes) {
  json.key("bytes").begin_array();
  for (const char byte : bytes) {
    json.integer(static_cast<unsigned char>(byte));
  }
  json.end_array();
}

void write_logprob(JsonWriter& json, std::string_view bytes, float logprob) {
  json.key("token").string(text::replace_ill_formed(bytes)).key("logprob").number(logprob);
  write_bytes(json, bytes);
}

void write_logprobs(JsonWriter& json, const std::vector<TokenLogprob>& logprobs) {
  json.key("logprobs").begin_object().key("content").begin_array();
  for (const TokenLogprob& token : logprobs) {
    json.begin_object();
    write_logprob(json, token.bytes, token.logprob);
    json.key("top_logprobs").begin_array();
    for (const auto& [bytes, logprob] : token.top) {
      json.begin_object();
      write_logprob(json, bytes, logprob);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

double per_second(int tokens, double seconds) {
  return seconds > 0 ? tokens / seconds : 0.0;
}

// A chunk with one choice, around what `write_delta` puts into its delta.
template <typename F>
std::string chunk(const ChunkPlace& place, const std::vector<TokenLogprob>& logprobs, F&& write_delta,
                  const ReplyEnd* end = nullptr) {
  JsonWriter json;
  json.begin_object();
  write_head(json, place.head, "chat.completion.chunk");
  json.key("choices").begin_array().begin_object().key("index").integer(place.index);
  json.key("delta").begin_object();
  write_delta(json);
  json.end_object();
  if (!logprobs.empty()) {
    write_logprobs(json, logprobs);
  }
  if (end) {
    write_finish(json, *end);
  } else {
    json.key("finish_reason").null();
  }
  json.end_object().end_array();
  if (place.head.usage_field) {
    json.key("usage").null();
  }
  if (end) {
    write_timings(json, end->usage.tokens);
  }
  return json.end_object().take();
}

void write_reasoning(JsonWriter& json, std::string_view text) {
  json.key("reasoning_content").string(text).key("reasoning").string(text);
}

void write_choice(JsonWriter& json, const WholeReply& reply, int index) {
  json.begin_object().key("index").integer(index);
  json.key("message").begin_object().key("role").string("assistant").key("content");
  if (reply.tool_calls.empty()) {
    json.string(reply.content);
  } else {
    json.string_or_null(reply.content);
  }
  json.key("refusal").null();
  if (!reply.reasoning.empty()) {
    write_reasoning(json, reply.reasoning);
  }
  if (!reply.tool_calls.empty()) {
    json.key("tool_calls").begin_array();
    for (const ToolCallReply& call : reply.tool_calls) {
      json.begin_object().key("id").string(call.id).key("type").string("function");
      json.key("function").begin_object().key("name").string(call.name);
      json.key("arguments").string(call.arguments_json).end_object().end_object();
    }
    json.end_array();
  }
  json.end_object();
  if (reply.has_logprobs) {
    write_logprobs(json, reply.logprobs);
  } else {
    json.key("logprobs").null();
  }
  write_finish(json, reply.end);
  json.end_object();
}

}  // namespace

void write_usage(JsonWriter& json, const ReplyUsage& usage) {
  const Usage& tokens = usage.tokens;
  json.key("usage").begin_object();
  json.key("prompt_tokens").integer(tokens.prompt_tokens);
  json.key("completion_tokens").integer(tokens.reply_tokens);
  json.key("total_tokens").integer(int64_t{tokens.prompt_tokens} + tokens.reply_tokens);
  json.key("prompt_tokens_details").begin_object();
  json.key("cached_tokens").integer(tokens.cached_tokens).end_object();
  json.key("completion_tokens_details").begin_object();
  json.key("reasoning_tokens").integer(usage.reasoning_tokens).end_object();
  json.end_object();
}

void write_timings(JsonWriter& json, const Usage& usage) {
  const int computed = usage.prompt_tokens - usage.cached_tokens;
  const auto rounded = [](double value) {
    return static_cast<double>(static_cast<int64_t>(value * 1e3)) / 1e3;
  };
  json.key("timings").begin_object();
  json.key("queue_ms").number(rounded(usage.queue_seconds * 1e3));
  json.key("prefill_ms").number(rounded(usage.prefill_seconds * 1e3));
  json.key("decode_ms").number(rounded(usage.decode_seconds * 1e3));
  json.key("prefill_tokens").integer(computed).key("cached_tokens").integer(usage.cached_tokens);
  json.key("decode_tokens").integer(usage.reply_tokens);
  json.key("prefill_tokens_per_second").number(rounded(per_second(computed, usage.prefill_seconds)));
  json.key("decode_tokens_per_second").number(rounded(per_second(usage.reply_tokens, usage.decode_seconds)));
  json.end_object();
}

void write_finish(JsonWriter& json, const ReplyEnd& end) {
  json.key("finish_reason").string(end.finish_reason).key("finish_cause").string(end.cause);
  if (!end.thinking_cut.empty()) {
    json.key("thinking_cut").string(end.thinking_cut);
  }
}

ReplyUsage add_usage(const ReplyUsage& a, const ReplyUsage& b) {
  ReplyUsage sum = a;
  sum.tokens.reply_tokens += b.tokens.reply_tokens;
  sum.tokens.queue_seconds = std::max(a.tokens.queue_seconds, b.tokens.queue_seconds);
  sum.tokens.prefill_seconds += b.tokens.prefill_seconds;
  sum.tokens.decode_seconds += b.tokens.decode_seconds;
  sum.reasoning_tokens += b.reasoning_tokens;
  return sum;
}

std::string role_chunk(const ChunkPlace& place) {
  return chunk(place, {},
               [](JsonWriter& json) { json.key("role").string("assistant").key("content").string(""); });
}

std::string reasoning_chunk(const ChunkPlace& place, std::string_view text,
                            const std::vector<TokenLogprob>& logprobs) {
  return chunk(place, logprobs, [&](JsonWriter& json) { write_reasoning(json, text); });
}

std::string content_chunk(const ChunkPlace& place, std::string_view text,
                          const std::vector<TokenLogprob>& logprobs) {
  return chunk(place, logprobs, [&](JsonWriter& json) { json.key("content").string(text); });
}

std::string tool_begin_chunk(const ChunkPlace& place, int index, std::string_view call_id,
                             std::string_view name) {
  return chunk(place, {}, [&](JsonWriter& json) {
    json.key("tool_calls").begin_array().begin_object().key("index").integer(index);
    json.key("id").string(call_id).key("type").string("function");
    json.key("function").begin_object().key("name").string(name).key("arguments").string("").end_object();
    json.end_object().end_array();
  });
}

std::string tool_arguments_chunk(const ChunkPlace& place, int index, std::string_view arguments) {
  return chunk(place, {}, [&](JsonWriter& json) {
    json.key("tool_calls").begin_array().begin_object().key("index").integer(index);
    json.key("function").begin_object().key("arguments").string(arguments).end_object();
    json.end_object().end_array();
  });
}

std::string finish_chunk(const ChunkPlace& place, const ReplyEnd& end) {
  return chunk(
      place, end.logprobs, [](JsonWriter&) {}, &end);
}

std::string usage_chunk(const ReplyHead& head, const ReplyUsage& usage) {
  JsonWriter json;
  json.begin_object();
  write_head(json, head, "chat.completion.chunk");
  json.key("choices").begin_array().end_array();
  write_usage(json, usage);
  write_timings(json, usage.tokens);
  return json.end_object().take();
}

std::string whole_reply(const ReplyHead& head, const std::vector<WholeReply>& replies) {
  JsonWriter json;
  json.begin_object();
  write_head(json, head, "chat.completion");
  json.key("choices").begin_array();
  ReplyUsage usage = replies.front().end.usage;
  for (size_t i = 0; i < replies.size(); ++i) {
    write_choice(json, replies[i], static_cast<int>(i));
    usage = i > 0 ? add_usage(usage, replies[i].end.usage) : usage;
  }
  json.end_array();
  write_usage(json, usage);
  write_timings(json, usage.tokens);
  return json.end_object().take();
}

}  // namespace orfebre::api
