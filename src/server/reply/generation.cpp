#include "server/reply/generation.h"

#include "server/constraint/policy_chain.h"
#include "server/reply/reply_policy.h"
#include "text/chat_template.h"
#include "text/message_ends.h"

namespace orfebre {
namespace {

bool thinks(const ServerContext& context, const api::ChatRequest& chat) {
  return chat.thinking.enabled.value_or(context.thinks_by_default) && chat.thinking.budget_tokens != 0;
}

struct Submitted {
  std::shared_ptr<TokenStream> stream;
  std::shared_ptr<ReplyNotes> notes;
};

std::unique_ptr<TokenPolicy> make_policy(RouteState& state, const Generation& generation,
                                         const std::shared_ptr<ReplyNotes>& notes) {
  const text::Tokenizer& tokenizer = state.context.tokenizer;
  const bool thinks_first = generation.reply.starts_in_think;
  std::vector<std::unique_ptr<TokenPolicy>> policies;
  policies.push_back(make_reply_policy(
      tokenizer,
      {generation.reply.stop, thinks_first, generation.thinking, generation.guard_loops, generation.one_call},
      notes));
  if (generation.grammar) {
    policies.push_back(make_answer_policy(generation.grammar, state.mask_vocabulary.get(tokenizer), tokenizer,
                                          state.context.stop_ids, thinks_first, notes));
  }
  return chain_policies(std::move(policies));
}

Submitted submit(const RouteCall& call, Generation& generation) {
  RouteState& state = call.state;
  const ServerContext& context = state.context;
  Submitted submitted;
  submitted.notes = std::make_shared<ReplyNotes>();
  Request request;
  request.prompt = std::move(generation.prompt);
  request.sampling = generation.sampling;
  request.max_tokens = generation.reply.max_tokens;
  request.stop_ids = context.stop_ids;
  request.n_top_logprobs = generation.reply.n_top_logprobs;
  request.policy = make_policy(state, generation, submitted.notes);
  request.snapshot_at = std::move(generation.message_ends);
  request.cache_namespace = call.cache_namespace;
  submitted.stream = context.engine.submit(std::move(request));
  return submitted;
}

}  // namespace

std::vector<int32_t> encode_chat(const ServerContext& context, const api::ChatRequest& chat) {
  text::ChatOptions options;
  options.enable_thinking = thinks(context, chat);
  options.preserve_thinking = chat.preserve_thinking;
  return context.tokenizer.encode(text::render_chat(chat.messages, chat.tools, options));
}

void require_room(const ServerContext& context, size_t prompt_tokens) {
  const auto n_prompt = static_cast<int64_t>(prompt_tokens);
  if (n_prompt >= context.engine.max_context()) {
    api::fail_context(n_prompt, context.engine.max_context());
  }
}

Generation begin_generation(const ServerContext& context, std::vector<int32_t> prompt,
                            const api::ReplyRequest& request, const SamplingParams& recommended) {
  require_room(context, prompt.size());
  Generation generation;
  generation.prompt = std::move(prompt);
  generation.sampling = resolve_sampling(request.sampling, recommended);
  generation.reply.stop = request.stop;
  generation.reply.n_top_logprobs = request.n_top_logprobs;
  generation.reply.prompt_tokens = static_cast<int>(generation.prompt.size());
  generation.reply.max_tokens = request.max_tokens;
  // Greedy decoding is how people test and compare: what it gives is given back, loops and all.
  generation.guard_loops = request.loop_guard.value_or(generation.sampling.temperature > 0.0f);
  return generation;
}

Generation make_generation(const ServerContext& context, const api::ChatRequest& chat) {
  const bool thinking = thinks(context, chat);
  Generation generation = begin_generation(context, encode_chat(context, chat), chat,
                                           thinking ? context.sampling.thinking : context.sampling.direct);
  generation.message_ends = text::message_ends(context.tokenizer, generation.prompt);
  generation.reply.starts_in_think = thinking;
  generation.reply.parse_tools = !chat.tools.empty();
  generation.thinking.budget_tokens = chat.thinking.budget_tokens.value_or(-1);
  generation.tools = chat.tools;
  generation.one_call = !chat.tools.empty() && !chat.answer.parallel_calls;
  generation.grammar = compile_answer_request(chat.answer, chat.tools, context.tokenizer, thinking);
  generation.reply.is_constrained = generation.grammar != nullptr;
  return generation;
}

void start_replies(const RouteCall& call, std::vector<Generation> generations, const SinkMaker& make_sinks) {
  const ServerContext& context = call.state.context;
  if (!call.writer->is_open()) {
    return;  // left while its prompt was being read
  }
  std::vector<Submitted> submitted;
  try {
    for (Generation& generation : generations) {
      submitted.push_back(submit(call, generation));
    }
    call.writer->on_disconnect([submitted] {
      for (const Submitted& one : submitted) {
        one.stream->cancel();
      }
    });
    std::vector<std::unique_ptr<ReplySink>> sinks = make_sinks();
    for (size_t i = 0; i < generations.size(); ++i) {
      call.state.replies.add(std::make_shared<ReplySession>(
          ReplySession::Source{submitted[i].stream, submitted[i].notes, call.writer}, std::move(sinks[i]),
          context.tokenizer, text::ToolSchemas(generations[i].tools), generations[i].reply,
          call.state.latencies));
    }
  } catch (...) {
    for (const Submitted& one : submitted) {
      one.stream->cancel();  // nobody would read it
    }
    throw;
  }
}

}  // namespace orfebre
