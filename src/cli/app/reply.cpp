#include "cli/app/reply.h"

#include "base/error.h"
#include "cli/system/signals.h"
#include "sample/sampling_fields.h"
#include "text/detokenizer.h"
#include "text/message_ends.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>

namespace orfebre::cli {
namespace {

// How long Ctrl-C may go unnoticed.
constexpr std::chrono::milliseconds kPollInterval{50};

std::optional<float> as_float(const std::optional<double>& value) {
  return value ? std::optional<float>(static_cast<float>(*value)) : std::nullopt;
}

SamplingParams sampling_params(const LoadedModel& model, const SamplingOptions& options) {
  SamplingFields fields;
  fields.temperature = as_float(options.temperature);
  fields.top_p = as_float(options.top_p);
  fields.top_k = options.top_k;
  fields.min_p = as_float(options.min_p);
  fields.repetition_penalty = as_float(options.repetition_penalty);
  fields.presence_penalty = as_float(options.presence_penalty);
  fields.frequency_penalty = as_float(options.frequency_penalty);
  fields.seed = options.seed;
  return resolve_sampling(fields, options.think ? model.sampling.thinking : model.sampling.direct);
}

Request make_request(const LoadedModel& model, std::span<const text::Message> messages,
                     const SamplingOptions& options) {
  text::ChatOptions chat;
  chat.enable_thinking = options.think;
  const std::vector<text::Segment> segments = text::render_chat(messages, {}, chat);
  Request request;
  request.prompt = model.tokenizer->encode(segments);
  request.snapshot_at = text::message_ends(*model.tokenizer, request.prompt);
  request.sampling = sampling_params(model, options);
  validate(request.sampling, model.tokenizer->vocab_size());
  request.max_tokens = options.max_tokens;
  request.stop_ids = model.stop_ids;
  return request;
}

// Collects the parser's events into the reply and passes them on.
void publish(const std::vector<text::ReplyEvent>& events, Reply& reply, const ReplySink& sink) {
  for (const text::ReplyEvent& event : events) {
    if (event.kind == text::ReplyEvent::Kind::kReasoning) {
      reply.reasoning += event.text;
    } else if (event.kind == text::ReplyEvent::Kind::kContent) {
      reply.content += event.text;
    } else {
      continue;
    }
    sink(event.kind, event.text);
  }
}

}  // namespace

Reply generate_reply(LoadedModel& model, std::span<const text::Message> messages,
                     const SamplingOptions& sampling, const ReplySink& sink) {
  const std::shared_ptr<TokenStream> stream = model.engine->submit(make_request(model, messages, sampling));
  const text::ToolSchemas no_tools;
  text::ReplyParser parser(no_tools, {.starts_in_think = sampling.think, .parse_tools = false});
  text::Detokenizer detokenizer(*model.tokenizer);
  Reply reply;
  while (true) {
    if (stop_requested().load()) {
      stream->cancel();
    }
    const std::optional<TokenEvent> event = stream->next(kPollInterval);
    if (!event) {
      continue;
    }
    if (event->error) {
      throw *event->error;
    }
    if (event->id >= 0) {
      publish(parser.push(detokenizer.push(event->id)), reply, sink);
    }
    if (event->finish) {
      publish(parser.push(detokenizer.flush()), reply, sink);
      publish(parser.finish(), reply, sink);
      reply.finish = *event->finish;
      reply.usage = event->usage;
      return reply;
    }
  }
}

std::string describe(const Usage& usage) {
  const double speed = usage.decode_seconds > 0 ? usage.reply_tokens / usage.decode_seconds : 0;
  const std::string cached =
      usage.cached_tokens > 0 ? fmt::format(", {} of them cached,", usage.cached_tokens) : "";
  return fmt::format("{} tokens, {:.1f} tok/s; prompt {} tokens{} in {:.2f} s", usage.reply_tokens, speed,
                     usage.prompt_tokens, cached, usage.prefill_seconds);
}

}  // namespace orfebre::cli
