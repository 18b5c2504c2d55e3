#include "text/reply_parser.h"

#include "base/python_json.h"
#include "text/reply_tags.h"

#include <algorithm>
#include <utility>

namespace orfebre::text {
namespace {

constexpr std::string_view kThinkOpening = "<think>";
constexpr std::string_view kThinkClosing = "</think>";
constexpr std::string_view kCallOpening = "<tool_call>";
constexpr std::string_view kCallClosing = "</tool_call>";
constexpr std::string_view kFunctionWord = "<function";
constexpr std::string_view kFunctionClosing = "</function>";
constexpr std::string_view kParameterWord = "<parameter";
constexpr std::string_view kParameterClosing = "</parameter>";
constexpr std::string_view kLineBreaks = "\r\n";
constexpr std::string_view kSpace = " \t\r\n";

// One run of reasoning or content: without line breaks before its first character and after its last.
class TextRun {
 public:
  // The part of `text` that may be emitted; line breaks wait for the character behind them.
  std::string add(std::string_view text) {
    const bool only_space = text.find_first_not_of(kSpace) == std::string_view::npos;
    if (only_space && (!started_ || !held_.empty())) {
      held_ += text;
      return {};
    }
    std::string all = std::exchange(held_, {});
    all += text;
    if (!started_) {
      started_ = true;
      const size_t last_break = all.substr(0, all.find_first_not_of(kSpace)).find_last_of(kLineBreaks);
      if (last_break != std::string::npos) {
        all.erase(0, last_break + 1);
      }
    }
    const size_t tail = all.find_last_not_of(kSpace) + 1;  // npos + 1 is 0
    const size_t first_break = all.find_first_of(kLineBreaks, tail);
    if (first_break != std::string::npos) {
      held_ = all.substr(first_break);
      all.resize(first_break);
    }
    return all;
  }

  bool started() const { return started_; }

 private:
  bool started_ = false;
  std::string held_;
};

}  // namespace

class ReplyParser::Impl {
 public:
  Impl(const ToolSchemas& schemas, const ReplyParserOptions& options)
      : schemas_(&schemas),
        parse_tools_(options.parse_tools),
        state_(options.starts_in_think ? kThink : kContent) {}

  std::vector<ReplyEvent> run(std::string_view text, bool ended) {
    buffer_.erase(0, std::exchange(cursor_, 0));
    buffer_ += text;
    ended_ = ended;
    while (step()) {
    }
    if (ended_ && in_call_) {
      end_call(false);
    }
    return std::exchange(events_, {});
  }

 private:
  enum State { kThink, kContent, kCallBody, kAfterFunction, kValue };

  // One decision; false when the text is used up or more is needed to decide.
  bool step() {
    switch (state_) {
      case kThink:
      case kContent: return text_step();
      case kCallBody: return body_step();
      case kAfterFunction: return after_function_step();
      case kValue: return value_step();
    }
    return false;
  }

  Lookahead rest() const { return {std::string_view(buffer_).substr(cursor_), ended_}; }
  void skip(size_t n_bytes) { cursor_ += n_bytes; }

  // ---- reasoning and content ----

  bool text_step() {
    const Lookahead in = rest();
    if (in.text.empty()) {
      return false;
    }
    const size_t plain = std::min(in.text.find('<'), in.text.size());
    if (plain > 0) {
      emit_text(in.text.substr(0, plain));
      skip(plain);
      return true;
    }
    if (is_cut_tag(in)) {
      skip(in.text.size());
      return false;
    }
    const Seen seen = state_ == kThink ? think_tag(in) : content_tag(in);
    if (seen == Seen::kNo) {
      emit_text("<");
      skip(1);
    }
    return seen != Seen::kMaybe;
  }

  void emit_text(std::string_view text) {
    const bool had_started = run_.started();
    std::string out = run_.add(text);
    if (out.empty()) {
      return;
    }
    const auto kind = state_ == kThink ? ReplyEvent::Kind::kReasoning : ReplyEvent::Kind::kContent;
    bool& any = state_ == kThink ? any_reasoning_ : any_content_;
    // A second run, after a call or a second think block, is a paragraph of its own.
    if (!had_started && any) {
      out.insert(0, "\n\n");
    }
    any = true;
    emit(kind, -1, out);
  }

  void enter_text(State state) {
    state_ = state;
    run_ = TextRun();
  }

  // Handles the tag at the start of `in`, if it is one.
  Seen think_tag(const Lookahead& in) {
    const Seen closing = match_literal(in, kThinkClosing);
    if (closing == Seen::kYes) {
      skip(kThinkClosing.size());
      enter_text(kContent);
      return closing;
    }
    const Seen opening = run_.started() ? Seen::kNo : match_literal(in, kThinkOpening);
    if (opening == Seen::kYes) {
      skip(kThinkOpening.size());
      return opening;
    }
    Seen call = parse_tools_ ? match_literal(in, kCallOpening) : Seen::kNo;
    if (call == Seen::kYes) {
      // Only a call that is really one: reasoning may speak about the markup.
      const Lookahead next = in.after(kCallOpening.size()).after_space();
      const TagMatch function =
          next.text.empty() && !next.ended ? TagMatch{Seen::kMaybe} : match_opening(next, kFunctionWord);
      call = function.seen;
      if (call == Seen::kYes) {
        if (function.name.empty() || !(schemas_->empty() || schemas_->knows(function.name))) {
          return Seen::kNo;
        }
        skip(static_cast<size_t>(next.text.data() - in.text.data()) + function.size_bytes);
        begin_call(function.name);
        return call;
      }
    }
    return std::max({closing, opening, call});
  }

  Seen content_tag(const Lookahead& in) {
    Seen seen = drop_literal(in, kThinkClosing);
    if (seen == Seen::kYes) {
      return seen;
    }
    if (!run_.started()) {
      const Seen opening = match_literal(in, kThinkOpening);
      if (opening == Seen::kYes) {
        skip(kThinkOpening.size());
        enter_text(kThink);
        return opening;
      }
      seen = std::max(seen, opening);
    }
    if (!parse_tools_) {
      return seen;
    }
    for (const std::string_view stray : {kCallClosing, kFunctionClosing, kParameterClosing}) {
      const Seen closing = drop_literal(in, stray);
      if (closing == Seen::kYes) {
        return closing;
      }
      seen = std::max(seen, closing);
    }
    const Seen call = call_opening(in);
    if (call == Seen::kYes) {
      return call;
    }
    const Seen bare = bare_function(in);
    if (bare == Seen::kYes) {
      return bare;
    }
    return std::max({seen, call, bare});
  }

  // A function's tag without <tool_call>: a known tool, or any name if a call's next tag follows.
  Seen bare_function(const Lookahead& in) {
    const TagMatch function = match_opening(in, kFunctionWord);
    if (function.seen != Seen::kYes) {
      return function.seen;
    }
    if (function.name.empty()) {
      return Seen::kNo;
    }
    if (!schemas_->knows(function.name)) {
      const Lookahead next = in.after(function.size_bytes).after_space();
      const Seen call = std::max(match_literal(next, "<parameter="), match_literal(next, kFunctionClosing));
      if (call != Seen::kYes) {
        return call;
      }
    }
    skip(function.size_bytes);
    begin_call(function.name);
    return Seen::kYes;
  }

  // "<tool_call>" with the function's tag behind it, or alone: then the tag is dropped and the rest is
  // content.
  Seen call_opening(const Lookahead& in) {
    const Seen opening = match_literal(in, kCallOpening);
    if (opening != Seen::kYes) {
      return opening;
    }
    const Lookahead next = in.after(kCallOpening.size()).after_space();
    if (next.text.empty() && !next.ended) {
      return Seen::kMaybe;
    }
    const TagMatch function = match_opening(next, kFunctionWord);
    if (function.seen == Seen::kMaybe) {
      return Seen::kMaybe;
    }
    const auto to_next = static_cast<size_t>(next.text.data() - in.text.data());
    if (function.seen == Seen::kYes) {
      skip(to_next + function.size_bytes);
      begin_call(function.name);
    } else if (next.at_end() || is_cut_tag(next)) {
      skip(in.text.size());  // the text ended before the function had a name
    } else {
      skip(kCallOpening.size());
    }
    return Seen::kYes;
  }

  Seen drop_literal(const Lookahead& in, std::string_view literal) {
    const Seen seen = match_literal(in, literal);
    if (seen == Seen::kYes) {
      skip(literal.size());
    }
    return seen;
  }

  // ---- calls ----

  // A call without a name is read like any other but never reported.
  void begin_call(const std::string& name) {
    tool_ = name;
    in_call_ = true;
    muted_ = name.empty();
    present_.clear();
    state_ = kCallBody;
    if (muted_) {
      return;
    }
    ++tool_index_;
    emit(ReplyEvent::Kind::kToolBegin, tool_index_, name);
  }

  void end_call(bool complete) {
    in_call_ = false;
    if (muted_) {
      return;
    }
    emit(ReplyEvent::Kind::kToolArguments, tool_index_, present_.empty() ? "{}" : "}");
    events_.push_back({ReplyEvent::Kind::kToolEnd, tool_index_, {}, complete});
  }

  bool body_step() {
    const Lookahead in = rest();
    // Between the parameters only tags count; text there belongs to nothing.
    const size_t junk = std::min(in.text.find('<'), in.text.size());
    skip(junk);
    if (junk > 0) {
      return true;
    }
    if (in.text.empty()) {
      return false;
    }
    Seen seen = Seen::kNo;
    for (const std::string_view closing : {kFunctionClosing, kCallClosing}) {
      const Seen matched = match_literal(in, closing);
      if (matched == Seen::kYes) {
        // </tool_call> is left for the next state.
        if (closing == kFunctionClosing) {
          skip(closing.size());
        }
        end_call(true);
        state_ = kAfterFunction;
        return true;
      }
      seen = std::max(seen, matched);
    }
    const TagMatch parameter = match_opening(in, kParameterWord);
    if (parameter.seen == Seen::kYes) {
      skip(parameter.size_bytes);
      begin_value(parameter.name);
      return true;
    }
    const Seen next_call = match_literal(in, kCallOpening);
    const TagMatch function = match_opening(in, kFunctionWord);
    if (next_call == Seen::kYes || function.seen == Seen::kYes) {
      end_call(true);
      if (function.seen == Seen::kYes) {
        skip(function.size_bytes);
        begin_call(function.name);
      } else {
        enter_text(kContent);
      }
      return true;
    }
    seen = std::max({seen, parameter.seen, next_call, function.seen});
    if (seen == Seen::kNo) {
      skip(1);
    }
    return seen != Seen::kMaybe;
  }

  bool after_function_step() {
    const Lookahead in = rest();
    const Lookahead next = in.after_space();
    if (next.text.empty()) {
      return false;
    }
    const auto to_next = static_cast<size_t>(next.text.data() - in.text.data());
    const Seen closing = match_literal(next, kCallClosing);
    if (closing == Seen::kMaybe) {
      return false;
    }
    if (closing == Seen::kYes) {
      skip(to_next + kCallClosing.size());
      enter_text(kContent);
      return true;
    }
    // Several functions in one <tool_call>.
    const TagMatch function = match_opening(next, kFunctionWord);
    if (function.seen == Seen::kMaybe) {
      return false;
    }
    if (function.seen == Seen::kYes) {
      skip(to_next + function.size_bytes);
      begin_call(function.name);
      return true;
    }
    enter_text(kContent);
    return true;
  }

  // ---- parameter values ----

  void begin_value(std::string name) {
    if (name.empty()) {
      name = schemas_->only_missing(tool_, present_);
    }
    key_ = std::move(name);
    dropped_ = key_.empty() || std::find(present_.begin(), present_.end(), key_) != present_.end();
    streamed_ = !dropped_ && schemas_->is_string(tool_, key_);
    at_value_start_ = true;
    value_.clear();
    held_break_ = false;
    state_ = kValue;
    if (streamed_) {
      open_member("\"");
    }
  }

  // Appends `, "key": ` and what follows it.
  void open_member(std::string_view then) {
    std::string text = present_.empty() ? "{" : ", ";
    append_json_string(text, key_);
    text.append(": ").append(then);
    present_.push_back(key_);
    emit_arguments(text);
  }

  void emit_arguments(std::string_view text) {
    if (!muted_) {
      emit(ReplyEvent::Kind::kToolArguments, tool_index_, text);
    }
  }

  // Text of the value; its last line break waits, since it may be the one before the closing tag.
  void add_value(std::string_view text) {
    if (text.empty()) {
      return;
    }
    std::string all = std::exchange(held_break_, false) ? "\n" : "";
    all += text;
    if (at_value_start_) {
      at_value_start_ = false;
      if (all[0] == '\n') {
        all.erase(0, 1);
      }
    }
    if (!all.empty() && all.back() == '\n') {
      held_break_ = true;
      all.pop_back();
    }
    if (streamed_) {
      std::string quoted;
      append_json_string(quoted, all);
      emit_arguments(std::string_view(quoted).substr(1, quoted.size() - 2));
    } else if (!dropped_) {
      value_ += all;
    }
  }

  void end_value() {
    if (streamed_) {
      emit_arguments("\"");
    } else if (!dropped_) {
      open_member(schemas_->to_json(tool_, key_, value_));
    }
    state_ = kCallBody;
  }

  bool value_step() {
    const Lookahead in = rest();
    const size_t plain = std::min(in.text.find('<'), in.text.size());
    if (plain > 0) {
      add_value(in.text.substr(0, plain));
      skip(plain);
      return true;
    }
    if (in.text.empty()) {
      if (ended_) {
        end_value();
      }
      return false;
    }
    const bool cut_tag = is_cut_tag(in);
    const TagMatch end = match_value_end(in, at_value_start_ || held_break_);
    if (end.seen == Seen::kMaybe) {
      return false;
    }
    if (end.seen == Seen::kYes || cut_tag) {
      skip(cut_tag ? in.text.size() : end.size_bytes);
      end_value();
    } else {
      add_value("<");
      skip(1);
    }
    return true;
  }

  // ---- events ----

  void emit(ReplyEvent::Kind kind, int32_t index, std::string_view text) {
    if (text.empty()) {
      return;
    }
    const bool joins = kind != ReplyEvent::Kind::kToolBegin && !events_.empty() &&
                       events_.back().kind == kind && events_.back().tool_index == index;
    if (joins) {
      events_.back().text += text;
    } else {
      events_.push_back({kind, index, std::string(text), true});
    }
  }

  const ToolSchemas* schemas_;
  bool parse_tools_;
  State state_;
  bool ended_ = false;
  std::string buffer_;  // text not yet decided, from cursor_
  size_t cursor_ = 0;   // in buffer_
  std::vector<ReplyEvent> events_;

  TextRun run_;
  bool any_reasoning_ = false;
  bool any_content_ = false;

  bool in_call_ = false;
  bool muted_ = false;
  int32_t tool_index_ = -1;
  std::string tool_;
  std::vector<std::string> present_;  // keys already in the arguments

  std::string key_;
  bool streamed_ = false;  // a string, emitted as it comes
  bool dropped_ = false;   // no key, or a key given twice
  bool at_value_start_ = false;
  bool held_break_ = false;
  std::string value_;  // of a value that is converted as a whole
};

ReplyParser::ReplyParser(const ToolSchemas& schemas, const ReplyParserOptions& options)
    : impl_(std::make_unique<Impl>(schemas, options)) {}
ReplyParser::~ReplyParser() = default;
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;

std::vector<ReplyEvent> ReplyParser::push(std::string_view text) {
  return impl_->run(text, false);
}
std::vector<ReplyEvent> ReplyParser::finish() {
  return impl_->run({}, true);
}

ParsedReply parse_reply(std::string_view text, const ToolSchemas& schemas,
                        const ReplyParserOptions& options) {
  ParsedReply reply;
  ReplyParser parser(schemas, options);
  const auto add = [&reply](const std::vector<ReplyEvent>& events) {
    for (const ReplyEvent& event : events) {
      switch (event.kind) {
        case ReplyEvent::Kind::kReasoning: reply.reasoning += event.text; break;
        case ReplyEvent::Kind::kContent: reply.content += event.text; break;
        case ReplyEvent::Kind::kToolBegin: reply.tool_calls.push_back({event.text, {}, true}); break;
        case ReplyEvent::Kind::kToolArguments: reply.tool_calls.back().arguments_json += event.text; break;
        case ReplyEvent::Kind::kToolEnd: reply.tool_calls.back().complete = event.complete; break;
      }
    }
  };
  add(parser.push(text));
  add(parser.finish());
  return reply;
}

}  // namespace orfebre::text
