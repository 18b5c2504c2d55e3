// One reply on its way from the engine's tokens to the client: detokenised, cut at stop strings, split into
// thinking, content and tool calls, and handed to a sink that formats it. Which API it belongs to is the
// sink's business. Runs on the reply thread (reply_driver.h); only cancel() may come from elsewhere.
#pragma once

#include "engine/token_stream.h"
#include "server/http/http_types.h"
#include "server/reply/latencies.h"
#include "server/reply/reply_parts.h"
#include "server/reply/reply_policy.h"
#include "server/reply/stop_policy.h"
#include "text/reply_parser.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace orfebre {

// How a reply ended.
struct ReplyEnd {
  std::string_view finish_reason;  // stop, length or tool_calls
  // Why: end_of_turn, stop_sequence, max_tokens, context, loop.
  std::string_view cause;
  std::string stop_sequence;      // the one that was found
  std::string_view thinking_cut;  // budget or loop, where that closed the thinking; empty otherwise
  std::vector<api::TokenLogprob> logprobs;
  api::ReplyUsage usage;
};

// Formats one reply for one API and writes it to one client.
class ReplySink {
 public:
  virtual ~ReplySink() = default;

  // Text in order; `logprobs` belong to the tokens whose text has been passed on with it.
  virtual void on_text(const std::vector<text::ReplyEvent>& events,
                       std::vector<api::TokenLogprob> logprobs) = 0;
  // The last call, one of the two.
  virtual void on_finish(ReplyEnd end) = 0;
  virtual void on_error(const Error& error) = 0;

  // Nothing was written for a while; so much of the prompt has been read.
  virtual void on_silence(int prefilled_tokens, int prompt_tokens) = 0;
  // Sends what was written since the last flush; false if that was nothing.
  virtual bool flush() = 0;
  // Whether nothing more will be read: another reply of the same answer has failed.
  virtual bool is_over() const { return false; }
};

struct ReplySettings {
  std::vector<std::string> stop;
  bool starts_in_think = false;
  bool parse_tools = false;
  bool is_raw = false;          // no thinking, no tools: all text is content
  bool is_constrained = false;  // the answer has a form that a cut would break
  int n_top_logprobs = -1;      // -1: none wanted
  int prompt_tokens = 0;
  int max_tokens = 0;  // 0: no limit
};

class ReplySession : public std::enable_shared_from_this<ReplySession> {
 public:
  using Clock = std::chrono::steady_clock;

  struct Source {
    std::shared_ptr<TokenStream> stream;
    std::shared_ptr<const ReplyNotes> notes;
    std::shared_ptr<http::ResponseWriter> writer;
  };

  // `tokenizer` must outlive the session.
  ReplySession(Source source, std::unique_ptr<ReplySink> sink, const text::Tokenizer& tokenizer,
               text::ToolSchemas schemas, const ReplySettings& settings,
               std::shared_ptr<Latencies> latencies);

  // Handles the events that have come. Returns whether the reply has ended.
  bool drain();
  // Called now and then; writes a sign of life after `keep_alive` of silence.
  void tick(Clock::time_point now, std::chrono::milliseconds keep_alive);

  // Thread-safe. The client has left, or the server goes down: the engine frees the sequence at once.
  void cancel() { stream_->cancel(); }
  TokenStream& stream() { return *stream_; }

  // Whether a wake-up is on its way already; the driver's.
  std::atomic<bool> scheduled{false};

 private:
  void on_token(const TokenEvent& event);
  void on_end(const TokenEvent& event);
  void pass_on(const std::string& text);
  std::vector<text::ReplyEvent> noted(std::vector<text::ReplyEvent> events);
  void hold_logprobs(const TokenEvent& event);
  std::vector<api::TokenLogprob> take_logprobs(uint64_t before_byte);

  ReplyEnd describe_end(const TokenEvent& event);

  std::shared_ptr<TokenStream> stream_;
  std::shared_ptr<const ReplyNotes> notes_;
  std::shared_ptr<http::ResponseWriter> writer_;
  std::unique_ptr<ReplySink> sink_;
  const text::Tokenizer& tokenizer_;
  text::Detokenizer detokenizer_;
  StopScanner scanner_;
  text::ToolSchemas schemas_;
  text::ReplyParser parser_;
  ReplySettings settings_;
  std::shared_ptr<Latencies> latencies_;

  struct HeldLogprob {
    uint64_t first_byte;  // of its token's text in the reply's raw text
    api::TokenLogprob logprob;
  };
  std::deque<HeldLogprob> held_;
  uint64_t raw_bytes_ = 0;     // of text that tokens gave
  uint64_t passed_bytes_ = 0;  // of it, given to the parser
  int reasoning_tokens_ = 0;
  bool answer_begun_ = false;  // perhaps by a call, which ends the thinking too
  bool called_tool_ = false;
  bool ended_ = false;
  int prefilled_tokens_ = 0;
  Clock::time_point last_write_ = Clock::now();
};

}  // namespace orfebre
