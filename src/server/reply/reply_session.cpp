#include "server/reply/reply_session.h"

#include "base/log.h"

#include <limits>

namespace orfebre {

using text::ReplyEvent;

ReplySession::ReplySession(Source source, std::unique_ptr<ReplySink> sink, const text::Tokenizer& tokenizer,
                           text::ToolSchemas schemas, const ReplySettings& settings,
                           std::shared_ptr<Latencies> latencies)
    : stream_(std::move(source.stream)),
      notes_(std::move(source.notes)),
      writer_(std::move(source.writer)),
      sink_(std::move(sink)),
      tokenizer_(tokenizer),
      detokenizer_(tokenizer),
      scanner_(settings.stop, settings.starts_in_think),
      schemas_(std::move(schemas)),
      parser_(schemas_, {settings.starts_in_think, settings.parse_tools}),
      settings_(settings),
      latencies_(std::move(latencies)) {}

bool ReplySession::drain() {
  while (auto event = stream_->try_next()) {
    if (event->id >= 0) {
      on_token(*event);
    }
    if (event->prefilled_tokens > 0) {
      prefilled_tokens_ = event->prefilled_tokens;
    }
    if (event->finish) {
      on_end(*event);
      ended_ = true;
    }
  }
  if (sink_->flush()) {
    last_write_ = Clock::now();
  }
  if (sink_->is_over()) {
    stream_->cancel();
  }
  return ended_;
}

void ReplySession::tick(Clock::time_point now, std::chrono::milliseconds keep_alive) {
  if (ended_ || now - last_write_ < keep_alive) {
    return;
  }
  sink_->on_silence(prefilled_tokens_, settings_.prompt_tokens);
  sink_->flush();
  last_write_ = now;
}

void ReplySession::on_token(const TokenEvent& event) {
  if (scanner_.in_think() && !answer_begun_) {
    ++reasoning_tokens_;
  }
  const std::string text = detokenizer_.push(event.id);
  if (settings_.n_top_logprobs >= 0) {
    hold_logprobs(event);
  }
  raw_bytes_ += text.size();
  pass_on(scanner_.push(text).text);
}

// Text that no stop string can claim any more.
void ReplySession::pass_on(const std::string& text) {
  if (text.empty()) {
    return;
  }
  passed_bytes_ += text.size();
  if (settings_.is_raw) {
    sink_->on_text({{ReplyEvent::Kind::kContent, -1, text, true}}, take_logprobs(passed_bytes_));
    return;
  }
  sink_->on_text(noted(parser_.push(text)), take_logprobs(passed_bytes_));
}

std::vector<ReplyEvent> ReplySession::noted(std::vector<ReplyEvent> events) {
  for (const ReplyEvent& event : events) {
    if (event.kind != ReplyEvent::Kind::kReasoning) {
      answer_begun_ = true;
    }
    if (event.kind == ReplyEvent::Kind::kToolBegin) {
      called_tool_ = true;
    }
  }
  return events;
}

void ReplySession::on_end(const TokenEvent& event) {
  if (*event.finish == FinishReason::kError) {
    sink_->on_error(event.error ? *event.error : Error(ErrorKind::kInternal, "the reply failed"));
    return;
  }
  if (*event.finish == FinishReason::kCancelled) {
    if (writer_->is_open()) {
      sink_->on_error(Error(ErrorKind::kUnavailable, "the server is shutting down"));
    } else {
      writer_->abort();
    }
    return;
  }
  if (notes_->left_form) {
    const Error error(ErrorKind::kInternal,
                      "the reply left the form that the request demands: a defect of this server; send the "
                      "request again");
    log_error("{}", error.what());
    sink_->on_error(error);
    return;
  }
  if (!scanner_.stopped()) {
    const std::string last = detokenizer_.flush();
    raw_bytes_ += last.size();
    pass_on(scanner_.push(last).text);
    pass_on(scanner_.flush());
  }
  if (!settings_.is_raw) {
    sink_->on_text(noted(parser_.finish()), {});
  }
  ReplyEnd end = describe_end(event);
  const std::string_view cause = end.cause;
  sink_->on_finish(std::move(end));
  latencies_->record(event.usage);
  log_info(
      "reply: {} prompt tokens ({} cached), {} reply tokens, queue {:.2f} s, prefill {:.2f} s, decode {:.2f} "
      "s, {}",
      event.usage.prompt_tokens, event.usage.cached_tokens, event.usage.reply_tokens,
      event.usage.queue_seconds, event.usage.prefill_seconds, event.usage.decode_seconds, cause);
}

ReplyEnd ReplySession::describe_end(const TokenEvent& event) {
  ReplyEnd end;
  const bool is_cut = *event.finish == FinishReason::kLength && !scanner_.stopped();
  if (scanner_.stopped()) {
    end.cause = "stop_sequence";
    end.stop_sequence = settings_.stop[static_cast<size_t>(scanner_.stop_index())];
  } else if (is_cut) {
    const bool at_limit = settings_.max_tokens > 0 && event.usage.reply_tokens >= settings_.max_tokens;
    end.cause = at_limit ? "max_tokens" : "context";
  } else {
    end.cause = notes_->stopped_for_loop ? "loop" : "end_of_turn";
  }
  const bool is_torn = is_cut || (settings_.is_constrained && end.cause == "loop");
  end.finish_reason = is_torn ? "length" : called_tool_ ? "tool_calls" : "stop";
  switch (notes_->thinking_cut.load()) {
    case Interference::kNone: break;
    case Interference::kBudget: end.thinking_cut = "budget"; break;
    case Interference::kLoop: end.thinking_cut = "loop"; break;
  }
  // After a stop string, what is still held belongs to it.
  end.logprobs = take_logprobs(scanner_.stopped() ? 0 : std::numeric_limits<uint64_t>::max());
  end.usage = {event.usage, reasoning_tokens_};
  return end;
}

void ReplySession::hold_logprobs(const TokenEvent& event) {
  if (!event.logprobs) {
    return;
  }
  api::TokenLogprob logprob{std::string(tokenizer_.token_bytes(event.id)), event.logprobs->logprob, {}};
  for (const auto& [id, value] : event.logprobs->top) {
    logprob.top.emplace_back(std::string(tokenizer_.token_bytes(id)), value);
  }
  held_.push_back({raw_bytes_, std::move(logprob)});
}

// Those of the tokens whose text begins before that byte of the reply.
std::vector<api::TokenLogprob> ReplySession::take_logprobs(uint64_t before_byte) {
  std::vector<api::TokenLogprob> taken;
  while (!held_.empty() && held_.front().first_byte < before_byte) {
    taken.push_back(std::move(held_.front().logprob));
    held_.pop_front();
  }
  return taken;
}

}  // namespace orfebre
