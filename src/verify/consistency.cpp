#include "verify/consistency.h"

#include "base/error.h"
#include "verify/sequence_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace orfebre {
namespace {

constexpr std::chrono::milliseconds kPollInterval{50};  // how long a signal may go unnoticed
constexpr int kDecodedTokens = 48;                      // at the end of a prompt that is fed token by token

int32_t likeliest(std::span<const float> logits, int n_vocab) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.begin() + n_vocab) - logits.begin());
}

int tokens_needed(const ConsistencyInput& input, std::span<const int32_t> prompt) {
  return static_cast<int>(prompt.size()) + input.reply_tokens;
}

// Infinite where either is not a number or not finite: such a run is never the same as another.
double distance(float x, float y) {
  return std::isfinite(x) && std::isfinite(y) ? std::abs(static_cast<double>(x) - static_cast<double>(y))
                                              : std::numeric_limits<double>::infinity();
}

ConsistencyCheck compare_logits(std::string name, std::span<const float> logits,
                                std::span<const float> expected, int n_vocab) {
  ConsistencyCheck check;
  check.name = std::move(name);
  check.same = likeliest(logits, n_vocab) == likeliest(expected, n_vocab);
  for (size_t i = 0; i < logits.size(); ++i) {
    check.largest_difference = std::max(check.largest_difference, distance(logits[i], expected[i]));
  }
  check.same = check.same && std::isfinite(check.largest_difference);
  check.same_bits = check.same && check.largest_difference == 0;
  return check;
}

struct EngineReply {
  std::vector<int32_t> ids;
  std::vector<float> logprobs;
};

std::shared_ptr<TokenStream> submit(Engine& engine, const ConsistencyInput& input,
                                    std::vector<int32_t> prompt) {
  Request request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.max_tokens = input.reply_tokens;
  request.n_top_logprobs = 0;
  return engine.submit(std::move(request));
}

EngineReply read_reply(TokenStream& stream, const std::atomic<bool>* cancel) {
  EngineReply reply;
  while (true) {
    if (cancel != nullptr && cancel->load()) {
      stream.cancel();
      fail(ErrorKind::kInternal, "stopped by a signal");
    }
    const std::optional<TokenEvent> event = stream.next(kPollInterval);
    if (!event) {
      continue;
    }
    if (event->error) {
      throw Error(*event->error);
    }
    if (event->id >= 0) {
      reply.ids.push_back(event->id);
      reply.logprobs.push_back(event->logprobs ? event->logprobs->logprob : 0);
    }
    if (event->finish) {
      return reply;
    }
  }
}

// Over all prompts of a run: ids against `expected`, log-probabilities against the cold run's.
ConsistencyCheck compare_replies(std::string name, const std::vector<EngineReply>& replies,
                                 const std::vector<EngineReply>& cold, const Replies& expected) {
  ConsistencyCheck check;
  check.name = std::move(name);
  check.same = true;
  for (size_t i = 0; i < replies.size(); ++i) {
    check.same = check.same && replies[i].ids == expected[i];
    const size_t n = std::min(replies[i].logprobs.size(), cold[i].logprobs.size());
    for (size_t j = 0; j < n; ++j) {
      check.largest_difference =
          std::max(check.largest_difference, distance(replies[i].logprobs[j], cold[i].logprobs[j]));
    }
  }
  check.same_bits = check.same && check.largest_difference == 0;
  return check;
}

std::vector<EngineReply> one_by_one(Engine& engine, const ConsistencyInput& input) {
  std::vector<EngineReply> replies;
  for (const std::vector<int32_t>& prompt : input.prompts) {
    replies.push_back(read_reply(*submit(engine, input, prompt), input.cancel));
  }
  return replies;
}

std::vector<EngineReply> all_at_once(Engine& engine, const ConsistencyInput& input) {
  std::vector<std::shared_ptr<TokenStream>> streams;
  for (const std::vector<int32_t>& prompt : input.prompts) {
    streams.push_back(submit(engine, input, prompt));
  }
  std::vector<EngineReply> replies;
  for (const std::shared_ptr<TokenStream>& stream : streams) {
    replies.push_back(read_reply(*stream, input.cancel));
  }
  return replies;
}

// The first prompt together with the first half of its reply must be answered with the other half: the next
// turn of a conversation, whose beginning the engine has seen before.
ConsistencyCheck check_next_turn(Engine& engine, const ConsistencyInput& input, const Replies& expected) {
  const std::vector<int32_t>& reply = expected.front();
  const auto half = static_cast<ptrdiff_t>(reply.size() / 2);
  std::vector<int32_t> prompt = input.prompts.front();
  prompt.insert(prompt.end(), reply.begin(), reply.begin() + half);
  const EngineReply rest = read_reply(*submit(engine, input, std::move(prompt)), input.cancel);
  ConsistencyCheck check;
  check.name = "engine, next turn";
  check.same = std::equal(reply.begin() + half, reply.end(), rest.ids.begin(),
                          rest.ids.begin() + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(reply.size()) - half,
                                                                 static_cast<ptrdiff_t>(rest.ids.size())));
  check.same_bits = check.same;
  return check;
}

}  // namespace

Replies greedy_replies(Model& model, const ConsistencyInput& input) {
  Replies replies;
  for (const std::vector<int32_t>& prompt : input.prompts) {
    SequenceRun run(model, tokens_needed(input, prompt), input.cancel);
    std::vector<float> logits = run.prefill(prompt, model.limits().max_prefill_rows);
    std::vector<int32_t> reply;
    while (true) {
      reply.push_back(likeliest(logits, input.n_vocab));
      if (static_cast<int>(reply.size()) == input.reply_tokens) {
        break;
      }
      logits = run.decode(reply.back());
    }
    replies.push_back(std::move(reply));
  }
  return replies;
}

std::vector<ConsistencyCheck> check_prefill(Model& model, const ConsistencyInput& input) {
  const std::span<const int32_t> prompt = input.prompts.front();
  const int max_tokens = tokens_needed(input, prompt);
  const std::vector<float> whole =
      SequenceRun(model, max_tokens, input.cancel).prefill(prompt, model.limits().max_prefill_rows);
  std::vector<ConsistencyCheck> checks;
  for (const int chunk : {64, 37}) {
    const std::vector<float> logits = SequenceRun(model, max_tokens, input.cancel).prefill(prompt, chunk);
    checks.push_back(
        compare_logits(fmt::format("prefill in chunks of {}", chunk), logits, whole, input.n_vocab));
  }
  SequenceRun run(model, max_tokens, input.cancel);
  const size_t n_decoded = std::min<size_t>(kDecodedTokens, prompt.size());
  run.prefill(prompt.first(prompt.size() - n_decoded), model.limits().max_prefill_rows);
  std::vector<float> logits;
  for (const int32_t id : prompt.last(n_decoded)) {
    logits = run.decode(id);
  }
  checks.push_back(compare_logits("prompt token by token", logits, whole, input.n_vocab));
  return checks;
}

std::vector<ConsistencyCheck> check_engine(Engine& engine, const ConsistencyInput& input,
                                           const Replies& expected) {
  const std::vector<EngineReply> cold = one_by_one(engine, input);
  std::vector<ConsistencyCheck> checks;
  checks.push_back(compare_replies("engine, cold", cold, cold, expected));
  checks.push_back(compare_replies("engine, warm", one_by_one(engine, input), cold, expected));
  checks.push_back(check_next_turn(engine, input, expected));
  checks.push_back(compare_replies(fmt::format("engine, {} at once", input.prompts.size()),
                                   all_at_once(engine, input), cold, expected));
  return checks;
}

}  // namespace orfebre
