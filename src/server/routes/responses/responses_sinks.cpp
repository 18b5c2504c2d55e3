#include "server/routes/responses/responses_sinks.h"

#include "server/api/json_writer.h"
#include "server/api/sse.h"
#include "server/reply/sse_writer.h"
#include "server/route.h"
#include "server/routes/chat/chat_reply.h"
#include "server/routes/responses/response_items.h"

#include <utility>

namespace orfebre {
namespace {

using api::JsonWriter;

void write_response_usage(JsonWriter& json, const api::ReplyUsage& usage) {
  const Usage& tokens = usage.tokens;
  json.key("usage").begin_object().key("input_tokens").integer(tokens.prompt_tokens);
  json.key("input_tokens_details")
      .begin_object()
      .key("cached_tokens")
      .integer(tokens.cached_tokens)
      .end_object();
  json.key("output_tokens").integer(tokens.reply_tokens);
  json.key("output_tokens_details").begin_object();
  json.key("reasoning_tokens").integer(usage.reasoning_tokens).end_object();
  json.key("total_tokens").integer(int64_t{tokens.prompt_tokens} + tokens.reply_tokens).end_object();
}

// How far a response is.
struct Stage {
  std::string_view status = "in_progress";
  const ReplyEnd* end = nullptr;
  const Error* error = nullptr;
};

void write_outcome(JsonWriter& json, const Stage& stage) {
  json.key("status").string(stage.status).key("error");
  if (stage.error) {
    json.begin_object()
        .key("code")
        .string("server_error")
        .key("message")
        .string(stage.error->what())
        .end_object();
  } else {
    json.null();
  }
  json.key("incomplete_details");
  if (stage.status == "incomplete") {
    json.begin_object().key("reason").string("max_output_tokens").end_object();
  } else {
    json.null();
  }
}

void write_settings(JsonWriter& json, const ResponseHead& head) {
  const api::EchoedFields& echoed = head.echoed;
  json.key("instructions").raw(echoed.instructions).key("metadata").raw(echoed.metadata);
  json.key("max_output_tokens");
  if (head.max_tokens > 0) {
    json.integer(head.max_tokens);
  } else {
    json.null();
  }
  json.key("parallel_tool_calls").boolean(head.parallel_tool_calls).key("previous_response_id").null();
  json.key("reasoning").begin_object().key("effort").raw(echoed.reasoning_effort);
  json.key("summary").raw(echoed.reasoning_summary).end_object();
  json.key("store").boolean(false).key("temperature").number(head.sampling.temperature);
  json.key("top_p").number(head.sampling.top_p);
  json.key("text").begin_object().key("format").raw(echoed.text_format).end_object();
  json.key("tool_choice").raw(echoed.tool_choice).key("tools").begin_array();
  for (const std::string& tool : head.tools) {
    json.raw(tool);
  }
  json.end_array().key("truncation").string("disabled").key("user").raw(echoed.user);
}

void write_response(JsonWriter& json, const ResponseHead& head, const ResponseItems& items,
                    const Stage& stage) {
  json.begin_object().key("id").string(head.id).key("object").string("response");
  json.key("created_at").integer(head.created_at).key("model").string(head.model);
  write_outcome(json, stage);
  json.key("output");
  items.write(json);
  write_settings(json, head);
  if (stage.end) {
    write_response_usage(json, stage.end->usage);
    json.key("finish_cause").string(stage.end->cause);
    if (!stage.end->thinking_cut.empty()) {
      json.key("thinking_cut").string(stage.end->thinking_cut);
    }
    api::write_timings(json, stage.end->usage.tokens);
  } else {
    json.key("usage").null();
  }
  json.end_object();
}

class ResponseStream final : public ReplySink {
 public:
  ResponseStream(std::shared_ptr<http::ResponseWriter> writer, ResponseHead head,
                 std::vector<http::Header> headers)
      : sse_(std::move(writer), std::move(headers)),
        head_(std::move(head)),
        items_([this](std::string_view name, JsonWriter json) { send(name, std::move(json)); },
               head_.wants_summary) {
    send_response("response.created", {});
    send_response("response.in_progress", {});
    sse_.flush();
  }

  void on_text(const std::vector<text::ReplyEvent>& events, std::vector<api::TokenLogprob>) override {
    for (const text::ReplyEvent& event : events) {
      items_.add(event);
    }
  }

  void on_finish(ReplyEnd end) override {
    const bool is_cut = end.finish_reason == "length";
    items_.finish(!is_cut);
    if (is_cut) {
      send_response("response.incomplete", {"incomplete", &end, nullptr});
    } else {
      send_response("response.completed", {"completed", &end, nullptr});
    }
    sse_.end();
  }

  void on_error(const Error& error) override {
    send_response("response.failed", {"failed", nullptr, &error});
    sse_.end();
  }

  void on_silence(int prefilled_tokens, int prompt_tokens) override {
    sse_.add(api::sse_waiting(prefilled_tokens, prompt_tokens));
  }
  bool flush() override { return sse_.flush(); }

 private:
  void send(std::string_view name, JsonWriter json) {
    json.key("sequence_number").integer(sequence_++);
    sse_.add(api::sse_named_event(name, json.end_object().take()));
  }

  void send_response(std::string_view name, const Stage& stage) {
    JsonWriter json;
    json.begin_object().key("type").string(name).key("response");
    write_response(json, head_, items_, stage);
    send(name, std::move(json));
  }

  SseWriter sse_;
  ResponseHead head_;
  int64_t sequence_ = 0;
  ResponseItems items_;
};

class ResponseWhole final : public ReplySink {
 public:
  ResponseWhole(std::shared_ptr<http::ResponseWriter> writer, ResponseHead head,
                std::vector<http::Header> headers)
      : writer_(std::move(writer)),
        head_(std::move(head)),
        headers_(std::move(headers)),
        items_(nullptr, head_.wants_summary) {}

  void on_text(const std::vector<text::ReplyEvent>& events, std::vector<api::TokenLogprob>) override {
    for (const text::ReplyEvent& event : events) {
      items_.add(event);
    }
  }

  void on_finish(ReplyEnd end) override {
    const bool is_cut = end.finish_reason == "length";
    items_.finish(!is_cut);
    JsonWriter json;
    write_response(json, head_, items_, {is_cut ? "incomplete" : "completed", &end, nullptr});
    writer_->send({200, "application/json", headers_, json.take()});
  }

  void on_error(const Error& error) override {
    send_error(*writer_, error, api::ErrorStyle::kOpenAi, headers_);
  }

  void on_silence(int, int) override {}
  bool flush() override { return false; }

 private:
  std::shared_ptr<http::ResponseWriter> writer_;
  ResponseHead head_;
  std::vector<http::Header> headers_;
  ResponseItems items_;
};

}  // namespace

std::unique_ptr<ReplySink> make_response_stream(std::shared_ptr<http::ResponseWriter> writer,
                                                ResponseHead head, std::vector<http::Header> headers) {
  return std::make_unique<ResponseStream>(std::move(writer), std::move(head), std::move(headers));
}

std::unique_ptr<ReplySink> make_response_whole(std::shared_ptr<http::ResponseWriter> writer,
                                               ResponseHead head, std::vector<http::Header> headers) {
  return std::make_unique<ResponseWhole>(std::move(writer), std::move(head), std::move(headers));
}

}  // namespace orfebre
