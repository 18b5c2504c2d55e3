#include "server/routes/ollama/ollama_sinks.h"

#include "server/api/json_writer.h"
#include "server/reply/sse_writer.h"
#include "server/route.h"

#include <ctime>
#include <optional>
#include <utility>

namespace orfebre {
namespace {

using api::JsonWriter;
using text::ReplyEvent;
using Kind = text::ReplyEvent::Kind;

struct Call {
  std::string name;
  std::string arguments_json;
};

// What one line says, or the whole reply.
struct Piece {
  std::string thinking;
  std::string content;
  std::vector<Call> calls;
};

void write_piece(JsonWriter& json, const OllamaForm& form, const Piece& piece) {
  json.begin_object().key("model").string(form.model).key("created_at").string(ollama_time());
  if (form.is_generate) {
    json.key("response").string(piece.content);
    if (!piece.thinking.empty()) {
      json.key("thinking").string(piece.thinking);
    }
    return;
  }
  json.key("message").begin_object().key("role").string("assistant").key("content").string(piece.content);
  if (!piece.thinking.empty()) {
    json.key("thinking").string(piece.thinking);
  }
  if (!piece.calls.empty()) {
    json.key("tool_calls").begin_array();
    for (const Call& call : piece.calls) {
      json.begin_object().key("function").begin_object().key("name").string(call.name);
      json.key("arguments").raw(call.arguments_json).end_object().end_object();
    }
    json.end_array();
  }
  json.end_object();
}

int64_t nanoseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1e9);
}

void write_end(JsonWriter& json, const ReplyEnd& end) {
  const Usage& usage = end.usage.tokens;
  json.key("done").boolean(true);
  json.key("done_reason").string(end.finish_reason == "length" ? "length" : "stop");
  json.key("finish_cause").string(end.cause);
  json.key("total_duration");
  json.integer(nanoseconds(usage.queue_seconds + usage.prefill_seconds + usage.decode_seconds));
  json.key("load_duration").integer(nanoseconds(usage.queue_seconds));
  json.key("prompt_eval_count").integer(usage.prompt_tokens);
  json.key("prompt_eval_duration").integer(nanoseconds(usage.prefill_seconds));
  json.key("eval_count").integer(usage.reply_tokens);
  json.key("eval_duration").integer(nanoseconds(usage.decode_seconds));
}

class OllamaSink final : public ReplySink {
 public:
  OllamaSink(std::shared_ptr<http::ResponseWriter> writer, OllamaForm form, std::vector<http::Header> headers)
      : writer_(std::move(writer)), form_(std::move(form)), headers_(std::move(headers)) {
    if (form_.stream) {
      lines_.emplace(writer_, headers_, "application/x-ndjson");
    }
  }

  void on_text(const std::vector<ReplyEvent>& events, std::vector<api::TokenLogprob>) override {
    for (const ReplyEvent& event : events) {
      switch (event.kind) {
        case Kind::kReasoning: piece_.thinking += event.text; break;
        case Kind::kContent: piece_.content += event.text; break;
        case Kind::kToolBegin: open_call_ = {event.text, {}}; continue;
        case Kind::kToolArguments: open_call_.arguments_json += event.text; continue;
        case Kind::kToolEnd: piece_.calls.push_back(std::exchange(open_call_, {})); break;
      }
      if (lines_) {
        send_line(nullptr);
      }
    }
  }

  void on_finish(ReplyEnd end) override {
    if (lines_) {
      send_line(&end);
      lines_->end();
      return;
    }
    writer_->send({200, "application/json", headers_, line(&end)});
  }

  void on_error(const Error& error) override {
    if (lines_) {
      lines_->add(api::error_body(error, api::ErrorStyle::kOllama) + "\n");
      lines_->end();
      return;
    }
    send_error(*writer_, error, api::ErrorStyle::kOllama, headers_);
  }

  // There are no comments between lines of JSON: a piece without text.
  void on_silence(int, int) override {
    if (lines_) {
      send_line(nullptr);
    }
  }
  bool flush() override { return lines_ && lines_->flush(); }

 private:
  std::string line(const ReplyEnd* end) {
    JsonWriter json;
    write_piece(json, form_, std::exchange(piece_, {}));
    if (end) {
      write_end(json, *end);
    } else {
      json.key("done").boolean(false);
    }
    return json.end_object().take();
  }
  void send_line(const ReplyEnd* end) { lines_->add(line(end) + "\n"); }

  std::shared_ptr<http::ResponseWriter> writer_;
  OllamaForm form_;
  std::vector<http::Header> headers_;
  std::optional<SseWriter> lines_;  // of a stream
  Piece piece_;
  Call open_call_;
};

}  // namespace

std::string ollama_time() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000000Z", &utc)};
}

std::unique_ptr<ReplySink> make_ollama_sink(std::shared_ptr<http::ResponseWriter> writer, OllamaForm form,
                                            std::vector<http::Header> headers) {
  return std::make_unique<OllamaSink>(std::move(writer), std::move(form), std::move(headers));
}

std::string ollama_loaded(const OllamaForm& form) {
  JsonWriter json;
  write_piece(json, form, {});
  json.key("done").boolean(true).key("done_reason").string("load");
  return json.end_object().take();
}

}  // namespace orfebre
