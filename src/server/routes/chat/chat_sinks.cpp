#include "server/routes/chat/chat_sinks.h"

#include "server/api/api_error.h"
#include "server/api/sse.h"
#include "server/route.h"

#include <fmt/format.h>

#include <utility>

namespace orfebre {
namespace {

using api::TokenLogprob;
using text::ReplyEvent;
using Kind = text::ReplyEvent::Kind;

class ChatStream final : public ReplySink {
 public:
  ChatStream(std::shared_ptr<http::ResponseWriter> writer, api::ReplyHead head, bool include_usage,
             std::vector<http::Header> headers)
      : writer_(std::move(writer)), head_(std::move(head)), include_usage_(include_usage) {
    head_.usage_field = include_usage;
    headers.push_back({"Cache-Control", "no-cache"});
    headers.push_back({"X-Accel-Buffering", "no"});  // proxies of the nginx kind pass chunks on at once
    writer_->begin_stream({200, "text/event-stream", std::move(headers), {}});
    writer_->write(api::sse_event(api::role_chunk(head_)));
  }

  void on_text(const std::vector<ReplyEvent>& events, std::vector<TokenLogprob> logprobs) override {
    logprobs_.insert(logprobs_.end(), std::make_move_iterator(logprobs.begin()),
                     std::make_move_iterator(logprobs.end()));
    for (const ReplyEvent& event : events) {
      switch (event.kind) {
        case Kind::kReasoning:
          send(api::reasoning_chunk(head_, event.text, std::exchange(logprobs_, {})));
          break;
        case Kind::kContent: send(api::content_chunk(head_, event.text, std::exchange(logprobs_, {}))); break;
        case Kind::kToolBegin:
          send(api::tool_begin_chunk(head_, event.tool_index, api::random_id("call_"), event.text));
          break;
        case Kind::kToolArguments:
          send(api::tool_arguments_chunk(head_, event.tool_index, event.text));
          break;
        case Kind::kToolEnd: break;
      }
    }
  }

  void on_finish(std::string_view finish_reason, std::vector<TokenLogprob> logprobs,
                 const api::ReplyUsage& usage) override {
    on_text({}, std::move(logprobs));
    send(api::finish_chunk(head_, finish_reason, logprobs_, usage));
    if (include_usage_) {
      send(api::usage_chunk(head_, usage));
    }
    buffer_ += api::kSseDone;
    end();
  }

  void on_error(const Error& error) override {
    buffer_ += api::sse_error(api::error_body(error));
    end();
  }

  void on_silence(int prefilled_tokens, int prompt_tokens) override {
    buffer_ += api::sse_comment(
        fmt::format("waiting: {} of {} prompt tokens read", prefilled_tokens, prompt_tokens));
  }

  bool flush() override {
    if (buffer_.empty()) {
      return false;
    }
    writer_->write(std::exchange(buffer_, {}));
    return true;
  }

 private:
  void send(const std::string& json) { buffer_ += api::sse_event(json); }

  void end() {
    flush();
    writer_->end();
  }

  std::shared_ptr<http::ResponseWriter> writer_;
  api::ReplyHead head_;
  bool include_usage_;
  std::string buffer_;
  std::vector<TokenLogprob> logprobs_;  // of tokens that gave no text yet
};

class ChatWhole final : public ReplySink {
 public:
  ChatWhole(std::shared_ptr<http::ResponseWriter> writer, api::ReplyHead head, bool has_logprobs,
            std::vector<http::Header> headers)
      : writer_(std::move(writer)), head_(std::move(head)), headers_(std::move(headers)) {
    reply_.has_logprobs = has_logprobs;
  }

  void on_text(const std::vector<ReplyEvent>& events, std::vector<TokenLogprob> logprobs) override {
    reply_.logprobs.insert(reply_.logprobs.end(), std::make_move_iterator(logprobs.begin()),
                           std::make_move_iterator(logprobs.end()));
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

  void on_finish(std::string_view finish_reason, std::vector<TokenLogprob> logprobs,
                 const api::ReplyUsage& usage) override {
    on_text({}, std::move(logprobs));
    reply_.finish_reason = finish_reason;
    reply_.usage = usage;
    writer_->send({200, "application/json", headers_, api::whole_reply(head_, reply_)});
  }

  void on_error(const Error& error) override {
    http::HttpResponse response = error_response(error);
    response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
    writer_->send(std::move(response));
  }

  void on_silence(int, int) override {}
  bool flush() override { return false; }

 private:
  std::shared_ptr<http::ResponseWriter> writer_;
  api::ReplyHead head_;
  std::vector<http::Header> headers_;
  api::WholeReply reply_;
};

}  // namespace

std::unique_ptr<ReplySink> make_chat_stream(std::shared_ptr<http::ResponseWriter> writer, api::ReplyHead head,
                                            bool include_usage, std::vector<http::Header> headers) {
  return std::make_unique<ChatStream>(std::move(writer), std::move(head), include_usage, std::move(headers));
}

std::unique_ptr<ReplySink> make_chat_whole(std::shared_ptr<http::ResponseWriter> writer, api::ReplyHead head,
                                           bool has_logprobs, std::vector<http::Header> headers) {
  return std::make_unique<ChatWhole>(std::move(writer), std::move(head), has_logprobs, std::move(headers));
}

}  // namespace orfebre
