// POST /v1/completions. The prompt is taken as it is: it is the place for prompts that the client has
// rendered itself, so control tokens in it are control tokens. With a suffix both are plain text around the
// model's markers for filling in.
#include "server/api/api_error.h"
#include "server/api/sse.h"
#include "server/reply/generation.h"
#include "server/routes/completions/completion_reply.h"
#include "server/routes/completions/completion_request.h"
#include "server/routes/handlers.h"

#include <ctime>

namespace orfebre {
namespace {

using Prompt = api::CompletionRequest::Prompt;

std::vector<int32_t> encode_fill_in(const ServerContext& context, const std::string& before,
                                    const std::string& after) {
  for (const char* marker : {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"}) {
    if (!context.tokenizer.id_of(marker)) {
      api::fail_unsupported("suffix", "this model has no tokens for filling in");
    }
  }
  const text::Segment segments[] = {{"<|fim_prefix|>", true},
                                    {before, false},
                                    {"<|fim_suffix|>", true},
                                    {after, false},
                                    {"<|fim_middle|>", true}};
  return context.tokenizer.encode(segments);
}

std::vector<int32_t> encode_prompt(const ServerContext& context, const api::CompletionRequest& request,
                                   const Prompt& prompt) {
  std::vector<int32_t> ids;
  if (const auto* given = std::get_if<std::vector<int32_t>>(&prompt)) {
    ids = *given;
  } else if (request.suffix) {
    ids = encode_fill_in(context, std::get<std::string>(prompt), *request.suffix);
  } else {
    ids = context.tokenizer.encode(std::get<std::string>(prompt));
  }
  if (ids.empty()) {  // what a text that begins from nothing begins with
    ids.push_back(context.tokenizer.id_of("<|endoftext|>").value_or(0));
  }
  return ids;
}

Generation make_generation(const ServerContext& context, const api::CompletionRequest& request,
                           const Prompt& prompt) {
  Generation generation =
      begin_generation(context, encode_prompt(context, request, prompt), request, context.sampling.direct);
  generation.reply.is_raw = true;
  return generation;
}

std::string text_of(const ServerContext& context, const Prompt& prompt) {
  const auto* text = std::get_if<std::string>(&prompt);
  return text ? *text : context.tokenizer.decode(std::get<std::vector<int32_t>>(prompt), false);
}

}  // namespace

void handle_completions(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const api::CompletionRequest request = api::parse_completion_request(call.request.body);
  CompletionForm form{
      request.stream, request.include_usage, request.n_top_logprobs >= 0, request.n_replies, {}};
  std::vector<Generation> generations;
  for (const Prompt& prompt : request.prompts) {
    const Generation generation = make_generation(context, request, prompt);
    for (int i = 0; i < request.n_replies; ++i) {
      generations.push_back(generation);
      generations.back().sampling.seed += static_cast<uint64_t>(i);
      form.echoes.push_back(request.echo ? text_of(context, prompt) : std::string());
    }
  }
  start_replies(call, std::move(generations), [&] {
    const api::ReplyHead head{api::random_id("cmpl-"), std::time(nullptr), context.model_name,
                              context.fingerprint, false};
    return make_completion_sinks(call.writer, head, std::move(form), call.headers);
  });
}

}  // namespace orfebre
