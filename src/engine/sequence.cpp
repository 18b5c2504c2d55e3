#include "engine/sequence.h"

#include <algorithm>
#include <utility>

namespace orfebre {

Sequence::Sequence(Request asked, std::shared_ptr<TokenStream> to, int n_context, double now)
    : request(std::move(asked)),
      stream(std::move(to)),
      n_prompt(static_cast<int>(request.prompt.size())),
      n_most(n_context),
      tokens(std::move(request.prompt)),
      submitted_at(now) {
  if (request.max_tokens > 0) {
    n_most = std::min(n_context, n_prompt + std::min(request.max_tokens, n_context));
  }
}

bool Sequence::is_stop(int32_t id) const {
  return std::find(request.stop_ids.begin(), request.stop_ids.end(), id) != request.stop_ids.end();
}

void Sequence::advance(int rows) {
  n_processed += rows;
  state_in = state_out;
  state_out = state_out == slots[0] ? slots[1] : slots[0];
}

int32_t Sequence::next_forced() const {
  if (replaying()) {
    return tokens[static_cast<size_t>(n_prompt + n_picked)];
  }
  return forced.empty() ? -1 : forced.front();
}

Usage Sequence::usage(double now) const {
  Usage usage;
  usage.prompt_tokens = n_prompt;
  usage.cached_tokens = n_cached;
  usage.reply_tokens = n_reply();
  usage.queue_seconds = (admitted_at < 0 ? now : admitted_at) - submitted_at;
  if (admitted_at >= 0) {
    usage.prefill_seconds = (first_token_at < 0 ? now : first_token_at) - admitted_at;
  }
  if (first_token_at >= 0) {
    usage.decode_seconds = now - first_token_at;
  }
  return usage;
}

}  // namespace orfebre
