#include "server/routes/completions/completion_reply.h"

#include "server/api/sse.h"
#include "server/reply/sse_writer.h"
#include "server/route.h"
#include "text/utf8.h"

#include <iterator>
#include <optional>
#include <utility>

namespace orfebre {
namespace {

using api::JsonWriter;
using api::TokenLogprob;

void write_head(JsonWriter& json, const api::ReplyHead& head) {
  json.begin_object().key("id").string(head.id).key("object").string("text_completion");
  json.key("created").integer(head.created).key("model").string(head.model);
  json.key("system_fingerprint").string(head.fingerprint);
}

// The older form: parallel arrays. `text_offset` counts characters of the choice's text.
void write_logprobs(JsonWriter& json, const std::vector<TokenLogprob>& logprobs, int64_t first_offset) {
  json.key("logprobs").begin_object().key("tokens").begin_array();
  for (const TokenLogprob& token : logprobs) {
    json.string(text::replace_ill_formed(token.bytes));
  }
  json.end_array().key("token_logprobs").begin_array();
  for (const TokenLogprob& token : logprobs) {
    json.number(token.logprob);
  }
  json.end_array().key("top_logprobs").begin_array();
  for (const TokenLogprob& token : logprobs) {
    json.begin_object();
    for (const auto& [bytes, logprob] : token.top) {
      json.key(text::replace_ill_formed(bytes)).number(logprob);
    }
    json.end_object();
  }
  json.end_array().key("text_offset").begin_array();
  int64_t offset = first_offset;
  for (const TokenLogprob& token : logprobs) {
    json.integer(offset);
    offset += text::count_characters(text::replace_ill_formed(token.bytes));
  }
  json.end_array().end_object();
}

struct Choice {
  std::string text;  // of a whole reply
  std::vector<TokenLogprob> logprobs;
  int64_t n_characters = 0;  // streamed so far
  ReplyEnd end;
};

struct Answer {
  std::shared_ptr<http::ResponseWriter> writer;
  api::ReplyHead head;
  CompletionForm form;
  std::vector<http::Header> headers;
  std::optional<SseWriter> sse;  // of a stream
  std::vector<Choice> choices;
  size_t n_running;
  std::optional<api::ReplyUsage> usage;
  bool failed = false;
};

class CompletionSink final : public ReplySink {
 public:
  CompletionSink(std::shared_ptr<Answer> answer, size_t index)
      : answer_(std::move(answer)), index_(index), choice_(answer_->choices[index]) {
    const std::string& echo = answer_->form.echoes[index];
    if (!echo.empty()) {
      add(echo);
    }
  }

  void on_text(const std::vector<text::ReplyEvent>& events, std::vector<TokenLogprob> logprobs) override {
    choice_.logprobs.insert(choice_.logprobs.end(), std::make_move_iterator(logprobs.begin()),
                            std::make_move_iterator(logprobs.end()));
    for (const text::ReplyEvent& event : events) {
      add(event.text);
    }
  }

  void on_finish(ReplyEnd end) override {
    on_text({}, std::move(end.logprobs));
    count(end.usage);
    choice_.end = std::move(end);
    const bool is_last = --answer_->n_running == 0;
    if (answer_->sse) {
      answer_->sse->add(api::sse_event(chunk({}, &choice_.end)));
      if (is_last) {
        end_stream();
      }
    } else if (is_last && !answer_->failed) {
      answer_->writer->send({200, "application/json", answer_->headers, whole()});
    }
  }

  void on_error(const Error& error) override {
    if (answer_->sse) {
      answer_->sse->add(api::sse_error(api::error_body(error)));
      answer_->sse->end();
    } else if (!std::exchange(answer_->failed, true)) {
      send_error(*answer_->writer, error, api::ErrorStyle::kOpenAi, answer_->headers);
    }
  }

  void on_silence(int prefilled_tokens, int prompt_tokens) override {
    if (answer_->sse) {
      answer_->sse->add(api::sse_waiting(prefilled_tokens, prompt_tokens));
    }
  }

  bool flush() override { return answer_->sse && answer_->sse->flush(); }
  bool is_over() const override { return answer_->sse ? answer_->sse->ended() : answer_->failed; }

 private:
  // Every prompt counts once, whatever the number of its choices.
  void count(const api::ReplyUsage& usage) {
    const bool is_first_of_prompt = index_ % static_cast<size_t>(answer_->form.n_replies) == 0;
    std::optional<api::ReplyUsage>& sum = answer_->usage;
    const int prompt_tokens = sum ? sum->tokens.prompt_tokens : 0;
    const int cached_tokens = sum ? sum->tokens.cached_tokens : 0;
    sum = sum ? api::add_usage(*sum, usage) : usage;
    sum->tokens.prompt_tokens = prompt_tokens + (is_first_of_prompt ? usage.tokens.prompt_tokens : 0);
    sum->tokens.cached_tokens = cached_tokens + (is_first_of_prompt ? usage.tokens.cached_tokens : 0);
  }

  void add(const std::string& text) {
    if (answer_->sse) {
      answer_->sse->add(api::sse_event(chunk(text, nullptr)));
    } else {
      choice_.text += text;
    }
  }

  void write_choice(JsonWriter& json, const std::string& text, const Choice& choice, size_t index,
                    const ReplyEnd* end) const {
    json.begin_object().key("index").integer(static_cast<int64_t>(index)).key("text").string(text);
    if (answer_->form.has_logprobs && !choice.logprobs.empty()) {
      write_logprobs(json, choice.logprobs, choice.n_characters);
    } else {
      json.key("logprobs").null();
    }
    if (end) {
      api::write_finish(json, *end);
    } else {
      json.key("finish_reason").null();
    }
    json.end_object();
  }

  std::string chunk(const std::string& text, const ReplyEnd* end) {
    JsonWriter json;
    write_head(json, answer_->head);
    json.key("choices").begin_array();
    write_choice(json, text, choice_, index_, end);
    json.end_array();
    if (answer_->form.include_usage) {
      json.key("usage").null();
    }
    choice_.logprobs.clear();
    choice_.n_characters += text::count_characters(text);
    return json.end_object().take();
  }

  void write_totals(JsonWriter& json) const {
    api::write_usage(json, *answer_->usage);
    api::write_timings(json, answer_->usage->tokens);
  }

  void end_stream() {
    if (answer_->form.include_usage) {
      JsonWriter json;
      write_head(json, answer_->head);
      json.key("choices").begin_array().end_array();
      write_totals(json);
      answer_->sse->add(api::sse_event(json.end_object().take()));
    }
    answer_->sse->add(std::string(api::kSseDone));
    answer_->sse->end();
  }

  std::string whole() const {
    JsonWriter json;
    write_head(json, answer_->head);
    json.key("choices").begin_array();
    for (size_t i = 0; i < answer_->choices.size(); ++i) {
      const Choice& choice = answer_->choices[i];
      write_choice(json, choice.text, choice, i, &choice.end);
    }
    json.end_array();
    write_totals(json);
    return json.end_object().take();
  }

  std::shared_ptr<Answer> answer_;
  size_t index_;
  Choice& choice_;
};

}  // namespace

std::vector<std::unique_ptr<ReplySink>> make_completion_sinks(std::shared_ptr<http::ResponseWriter> writer,
                                                              api::ReplyHead head, CompletionForm form,
                                                              std::vector<http::Header> headers) {
  auto answer = std::make_shared<Answer>();
  answer->n_running = form.echoes.size();
  answer->choices.resize(form.echoes.size());
  if (form.stream) {
    answer->sse.emplace(writer, headers);
  }
  answer->writer = std::move(writer);
  answer->head = std::move(head);
  answer->form = std::move(form);
  answer->headers = std::move(headers);
  std::vector<std::unique_ptr<ReplySink>> sinks;
  for (size_t i = 0; i < answer->choices.size(); ++i) {
    sinks.push_back(std::make_unique<CompletionSink>(answer, i));
  }
  return sinks;
}

}  // namespace orfebre
