#include "server/routes/chat/chat_sinks.h"

#include "server/api/api_error.h"
#include "server/api/sse.h"
#include "server/reply/sse_writer.h"
#include "server/route.h"

#include <iterator>
#include <optional>
#include <utility>

namespace orfebre {
namespace {

using api::TokenLogprob;
using text::ReplyEvent;
using Kind = text::ReplyEvent::Kind;

void append(std::vector<TokenLogprob>& to, std::vector<TokenLogprob> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// What the choices of one streamed answer share.
struct StreamedAnswer {
  SseWriter sse;
  api::ReplyHead head;
  bool include_usage;
  int n_running;
  std::optional<api::ReplyUsage> usage;  // of the choices that have ended
};

class ChatStream final : public ReplySink {
 public:
  ChatStream(std::shared_ptr<StreamedAnswer> answer, int index)
      : answer_(std::move(answer)), place_{answer_->head, index} {
    send(api::role_chunk(place_));
  }

  void on_text(const std::vector<ReplyEvent>& events, std::vector<TokenLogprob> logprobs) override {
    append(logprobs_, std::move(logprobs));
    for (const ReplyEvent& event : events) {
      switch (event.kind) {
        case Kind::kReasoning:
          send(api::reasoning_chunk(place_, event.text, std::exchange(logprobs_, {})));
          break;
        case Kind::kContent:
          send(api::content_chunk(place_, event.text, std::exchange(logprobs_, {})));
          break;
        case Kind::kToolBegin:
          send(api::tool_begin_chunk(place_, event.tool_index, api::random_id("call_"), event.text));
          break;
        case Kind::kToolArguments:
          send(api::tool_arguments_chunk(place_, event.tool_index, event.text));
          break;
        case Kind::kToolEnd: break;
      }
    }
  }

  void on_finish(ReplyEnd end) override {
    append(logprobs_, std::move(end.logprobs));
    end.logprobs = std::move(logprobs_);
    send(api::finish_chunk(place_, end));
    answer_->usage = answer_->usage ? api::add_usage(*answer_->usage, end.usage) : end.usage;
    if (--answer_->n_running > 0) {
      return;
    }
    if (answer_->include_usage) {
      send(api::usage_chunk(answer_->head, *answer_->usage));
    }
    answer_->sse.add(std::string(api::kSseDone));
    answer_->sse.end();
  }

  void on_error(const Error& error) override {
    answer_->sse.add(api::sse_error(api::error_body(error)));
    answer_->sse.end();
  }

  void on_silence(int prefilled_tokens, int prompt_tokens) override {
    answer_->sse.add(api::sse_waiting(prefilled_tokens, prompt_tokens));
  }

  bool flush() override { return answer_->sse.flush(); }
  bool is_over() const override { return answer_->sse.ended(); }

 private:
  void send(const std::string& json) { answer_->sse.add(api::sse_event(json)); }

  std::shared_ptr<StreamedAnswer> answer_;
  api::ChunkPlace place_;
  std::vector<TokenLogprob> logprobs_;  // of tokens that gave no text yet
};

// What the choices of one answer at the end share.
struct WholeAnswer {
  std::shared_ptr<http::ResponseWriter> writer;
  api::ReplyHead head;
  std::vector<http::Header> headers;
  std::vector<api::WholeReply> replies;
  int n_running;
  bool failed = false;
};

class ChatWhole final : public ReplySink {
 public:
  ChatWhole(std::shared_ptr<WholeAnswer> answer, size_t index)
      : answer_(std::move(answer)), reply_(answer_->replies[index]) {}

  void on_text(const std::vector<ReplyEvent>& events, std::vector<TokenLogprob> logprobs) override {
    append(reply_.logprobs, std::move(logprobs));
    for (const ReplyEvent& event : events) {
      switch (event.kind) {
        case Kind::kReasoning: reply_.reasoning += event.text; break;
        case Kind::kContent: reply_.content += event.text; break;
        case Kind::kToolBegin: reply_.tool_calls.push_back({api::random_id("call_"), event.text, {}}); break;
        case Kind::kToolArguments: reply_.tool_calls.back().arguments_json += event.text; break;
        case Kind::kToolEnd: break;
      }
    }
  }

  void on_finish(ReplyEnd end) override {
    append(reply_.logprobs, std::move(end.logprobs));
    reply_.end = std::move(end);
    if (--answer_->n_running == 0 && !answer_->failed) {
      answer_->writer->send(
          {200, "application/json", answer_->headers, api::whole_reply(answer_->head, answer_->replies)});
    }
  }

  void on_error(const Error& error) override {
    if (std::exchange(answer_->failed, true)) {
      return;
    }
    send_error(*answer_->writer, error, api::ErrorStyle::kOpenAi, answer_->headers);
  }

  void on_silence(int, int) override {}
  bool flush() override { return false; }
  bool is_over() const override { return answer_->failed; }

 private:
  std::shared_ptr<WholeAnswer> answer_;
  api::WholeReply& reply_;
};

}  // namespace

std::vector<std::unique_ptr<ReplySink>> make_chat_stream(std::shared_ptr<http::ResponseWriter> writer,
                                                         api::ReplyHead head, int n_replies,
                                                         bool include_usage,
                                                         std::vector<http::Header> headers) {
  head.usage_field = include_usage;
  const std::shared_ptr<StreamedAnswer> answer(new StreamedAnswer{
      SseWriter(std::move(writer), std::move(headers)), std::move(head), include_usage, n_replies, {}});
  std::vector<std::unique_ptr<ReplySink>> sinks;
  sinks.reserve(static_cast<size_t>(n_replies));
  for (int i = 0; i < n_replies; ++i) {
    sinks.push_back(std::make_unique<ChatStream>(answer, i));
  }
  answer->sse.flush();
  return sinks;
}

std::vector<std::unique_ptr<ReplySink>> make_chat_whole(std::shared_ptr<http::ResponseWriter> writer,
                                                        api::ReplyHead head, int n_replies, bool has_logprobs,
                                                        std::vector<http::Header> headers) {
  const std::shared_ptr<WholeAnswer> answer(
      new WholeAnswer{std::move(writer), std::move(head), std::move(headers), {}, n_replies});
  answer->replies.resize(static_cast<size_t>(n_replies));
  std::vector<std::unique_ptr<ReplySink>> sinks;
  for (size_t i = 0; i < answer->replies.size(); ++i) {
    answer->replies[i].has_logprobs = has_logprobs;
    sinks.push_back(std::make_unique<ChatWhole>(answer, i));
  }
  return sinks;
}

}  // namespace orfebre
