#include "server/routes/messages/messages_sinks.h"

#include "server/api/json_writer.h"
#include "server/api/sse.h"
#include "server/reply/sse_writer.h"
#include "server/route.h"

#include <utility>

namespace orfebre {
namespace {

using api::JsonWriter;
using text::ReplyEvent;
using Kind = text::ReplyEvent::Kind;

// Clients send a thinking block back only with a signature. Nothing is signed here: the model takes its own
// thinking back as it stands.
constexpr std::string_view kSignature = "unsigned";

std::string_view stop_reason(const ReplyEnd& end) {
  if (end.cause == "stop_sequence") {
    return "stop_sequence";
  }
  if (end.finish_reason == "tool_calls") {
    return "tool_use";
  }
  if (end.finish_reason == "length") {
    return end.cause == "context" ? "model_context_window_exceeded" : "max_tokens";
  }
  return "end_turn";
}

// Tokens of the prompt are counted once: as read from the cache or as input.
void write_usage(JsonWriter& json, const Usage& usage) {
  json.key("usage").begin_object();
  json.key("input_tokens").integer(usage.prompt_tokens - usage.cached_tokens);
  json.key("cache_creation_input_tokens").integer(0);
  json.key("cache_read_input_tokens").integer(usage.cached_tokens);
  json.key("output_tokens").integer(usage.reply_tokens).end_object();
}

void write_stop(JsonWriter& json, const ReplyEnd& end) {
  json.key("stop_reason").string(stop_reason(end)).key("stop_sequence");
  if (end.cause == "stop_sequence") {
    json.string(end.stop_sequence);
  } else {
    json.null();
  }
  json.key("stop_cause").string(end.cause);
  if (!end.thinking_cut.empty()) {
    json.key("thinking_cut").string(end.thinking_cut);
  }
}

// The members of a message before its content.
void write_head(JsonWriter& json, const MessageHead& head) {
  json.key("id").string(head.id).key("type").string("message").key("role").string("assistant");
  json.key("model").string(head.model);
}

class MessageStream final : public ReplySink {
 public:
  MessageStream(std::shared_ptr<http::ResponseWriter> writer, const MessageHead& head,
                std::vector<http::Header> headers)
      : sse_(std::move(writer), std::move(headers)) {
    JsonWriter json = event("message_start");
    json.key("message").begin_object();
    write_head(json, head);
    json.key("content").begin_array().end_array();
    json.key("stop_reason").null().key("stop_sequence").null();
    Usage usage;
    usage.prompt_tokens = head.prompt_tokens;
    write_usage(json, usage);
    json.end_object();
    send("message_start", std::move(json));
    ping();
    sse_.flush();
  }

  void on_text(const std::vector<ReplyEvent>& events, std::vector<api::TokenLogprob>) override {
    for (const ReplyEvent& part : events) {
      switch (part.kind) {
        case Kind::kReasoning: add_text(Block::kThinking, "thinking_delta", "thinking", part.text); break;
        case Kind::kContent: add_text(Block::kText, "text_delta", "text", part.text); break;
        case Kind::kToolBegin: begin_call(part.text); break;
        case Kind::kToolArguments: delta("input_json_delta", "partial_json", part.text); break;
        case Kind::kToolEnd: end_block(); break;
      }
    }
  }

  void on_finish(ReplyEnd end) override {
    end_block();
    JsonWriter json = event("message_delta");
    json.key("delta").begin_object();
    write_stop(json, end);
    json.end_object();
    write_usage(json, end.usage.tokens);
    send("message_delta", std::move(json));
    send("message_stop", event("message_stop"));
    sse_.end();
  }

  void on_error(const Error& error) override {
    sse_.add(api::sse_error(api::error_body(error, api::ErrorStyle::kAnthropic)));
    sse_.end();
  }

  void on_silence(int, int) override { ping(); }
  bool flush() override { return sse_.flush(); }

 private:
  enum class Block { kNone, kThinking, kText, kTool };

  static JsonWriter event(std::string_view type) {
    JsonWriter json;
    json.begin_object().key("type").string(type);
    return json;
  }
  void send(std::string_view name, JsonWriter json) {
    sse_.add(api::sse_named_event(name, json.end_object().take()));
  }
  void ping() { send("ping", event("ping")); }

  JsonWriter block_event(std::string_view type) const {
    JsonWriter json = event(type);
    json.key("index").integer(index_);
    return json;
  }

  void begin_block(Block block) {
    end_block();
    block_ = block;
    ++index_;
  }

  void end_block() {
    if (block_ == Block::kThinking) {
      delta("signature_delta", "signature", kSignature);
    }
    if (block_ != Block::kNone) {
      send("content_block_stop", block_event("content_block_stop"));
    }
    block_ = Block::kNone;
  }

  void add_text(Block block, std::string_view type, std::string_view member, std::string_view text) {
    if (block_ != block) {
      begin_block(block);
      JsonWriter json = block_event("content_block_start");
      json.key("content_block").begin_object().key("type").string(member).key(member).string("");
      if (block == Block::kThinking) {
        json.key("signature").string("");
      }
      json.end_object();
      send("content_block_start", std::move(json));
    }
    delta(type, member, text);
  }

  void begin_call(std::string_view name) {
    begin_block(Block::kTool);
    JsonWriter json = block_event("content_block_start");
    json.key("content_block").begin_object().key("type").string("tool_use");
    json.key("id").string(api::random_id("toolu_")).key("name").string(name);
    json.key("input").begin_object().end_object().end_object();
    send("content_block_start", std::move(json));
  }

  void delta(std::string_view type, std::string_view member, std::string_view text) {
    JsonWriter json = block_event("content_block_delta");
    json.key("delta").begin_object().key("type").string(type).key(member).string(text).end_object();
    send("content_block_delta", std::move(json));
  }

  SseWriter sse_;
  Block block_ = Block::kNone;
  int index_ = -1;
};

class MessageWhole final : public ReplySink {
 public:
  MessageWhole(std::shared_ptr<http::ResponseWriter> writer, MessageHead head,
               std::vector<http::Header> headers)
      : writer_(std::move(writer)), head_(std::move(head)), headers_(std::move(headers)) {}

  void on_text(const std::vector<ReplyEvent>& events, std::vector<api::TokenLogprob>) override {
    for (const ReplyEvent& part : events) {
      switch (part.kind) {
        case Kind::kReasoning:
        case Kind::kContent:
          if (blocks_.empty() || blocks_.back().kind != part.kind) {
            blocks_.push_back({part.kind, {}, {}});
          }
          blocks_.back().text += part.text;
          break;
        case Kind::kToolBegin: blocks_.push_back({Kind::kToolBegin, part.text, {}}); break;
        case Kind::kToolArguments: blocks_.back().text += part.text; break;
        case Kind::kToolEnd: break;
      }
    }
  }

  void on_finish(ReplyEnd end) override {
    JsonWriter json;
    json.begin_object();
    write_head(json, head_);
    json.key("content").begin_array();
    for (const Block& block : blocks_) {
      write_block(json, block);
    }
    json.end_array();
    write_stop(json, end);
    write_usage(json, end.usage.tokens);
    writer_->send({200, "application/json", headers_, json.end_object().take()});
  }

  void on_error(const Error& error) override {
    send_error(*writer_, error, api::ErrorStyle::kAnthropic, headers_);
  }

  void on_silence(int, int) override {}
  bool flush() override { return false; }

 private:
  struct Block {
    Kind kind;  // kReasoning, kContent or kToolBegin
    std::string name;
    std::string text;
  };

  static void write_block(JsonWriter& json, const Block& block) {
    json.begin_object();
    switch (block.kind) {
      case Kind::kReasoning:
        json.key("type").string("thinking").key("thinking").string(block.text);
        json.key("signature").string(kSignature);
        break;
      case Kind::kContent: json.key("type").string("text").key("text").string(block.text); break;
      default:
        json.key("type").string("tool_use").key("id").string(api::random_id("toolu_"));
        json.key("name").string(block.name).key("input").raw(block.text);
        break;
    }
    json.end_object();
  }

  std::shared_ptr<http::ResponseWriter> writer_;
  MessageHead head_;
  std::vector<http::Header> headers_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<ReplySink> make_message_stream(std::shared_ptr<http::ResponseWriter> writer,
                                               const MessageHead& head, std::vector<http::Header> headers) {
  return std::make_unique<MessageStream>(std::move(writer), head, std::move(headers));
}

std::unique_ptr<ReplySink> make_message_whole(std::shared_ptr<http::ResponseWriter> writer, MessageHead head,
                                              std::vector<http::Header> headers) {
  return std::make_unique<MessageWhole>(std::move(writer), std::move(head), std::move(headers));
}

}  // namespace orfebre
