#include "server/scripted_model.h"

#include "base/python_json.h"
#include "text/encoding/pre_tokenizer.h"

#include <chrono>
#include <thread>

namespace orfebre::testing {
namespace {

// The characters by which byte-level BPE writes bytes: printable ones stand for themselves, the others follow
// from U+0100 on.
std::string byte_character(int byte) {
  const auto printable = [](int b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  int code = byte;
  if (!printable(byte)) {
    code = 0x100;
    for (int b = 0; b < byte; ++b) {
      code += printable(b) ? 0 : 1;
    }
  }
  if (code < 0x80) {
    return {static_cast<char>(code)};
  }
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

std::string tokenizer_json() {
  std::string vocab;
  for (int byte = 0; byte < 256; ++byte) {
    if (byte > 0) {
      vocab += ",";
    }
    append_json_string(vocab, byte_character(byte));
    vocab.append(":").append(std::to_string(byte));
  }
  std::string added;
  int id = 256;
  for (const char* text : {"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>",
                           "<tool_call>", "</tool_call>", "<fail>"}) {
    if (id > 256) {
      added += ",";
    }
    const bool special = text[1] == '|';
    added += "{\"id\":" + std::to_string(id++) + ",\"content\":\"" + text +
             "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":" +
             (special ? "true" : "false") + "}";
  }
  std::string expression;
  append_json_string(expression, text::kSplitExpression);
  return "{\"added_tokens\":[" + added +
         "],\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
         "{\"type\":\"Split\",\"pattern\":{\"Regex\":" +
         expression +
         "},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
         "\"trim_offsets\":false,\"use_regex\":false}]},\"decoder\":{\"type\":\"ByteLevel\"},"
         "\"model\":{\"type\":\"BPE\",\"vocab\":{" +
         vocab + "},\"merges\":[]}}";
}

}  // namespace

text::Tokenizer byte_tokenizer() {
  return text::Tokenizer::from_json(tokenizer_json(), "the byte tokenizer");
}

ScriptedExecutor::ScriptedExecutor(const text::Tokenizer& tokenizer, std::shared_ptr<ScriptPace> pace,
                                   int max_context)
    : tokenizer_(tokenizer), pace_(std::move(pace)), shape_(describe<Probe>()) {
  shape_.vocab = kByteVocab;
  limits_ = {max_context, 256, 8 * max_context / kBlockTokens, 24};
}

bool ScriptedExecutor::forward(const Step& step, const std::atomic<bool>* cancel) {
  validate_step(step, shape_, limits_);
  ++pace_->n_steps;
  int left_ms = step.kind == StepKind::kPrefill ? pace_->prefill_ms : pace_->decode_ms;
  for (; left_ms > 0; --left_ms) {
    if (cancel && *cancel) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return !(cancel && *cancel);
}

void ScriptedExecutor::pick(const PickBatch& batch) {
  results_.clear();
  for (const PickRow& row : batch.rows) {
    const Lane& lane = lanes_.at(row.lane);
    const auto at = static_cast<size_t>(row.position - lane.prompt_tokens);
    PickResult result{};
    result.token = at < lane.reply.size() ? lane.reply[at] : kEndOfTurn;
    if (row.forced_token >= 0) {
      result.token = row.forced_token;
    }
    if (result.token == kNotFinite) {
      result.status = kPickNotFinite;
    }
    result.logprob = -0.25f;
    for (int i = 0; i < kTopLogprobs; ++i) {
      result.top_ids[i] = (result.token + i) % kByteVocab;
      result.top_logprobs[i] = -0.25f - static_cast<float>(i);
    }
    results_.push_back(result);
  }
}

void ScriptedExecutor::reset_lane(int lane, std::span<const int32_t> prompt) {
  const std::string text = tokenizer_.decode(prompt, false);
  const std::string_view opening = "<|im_start|>user\nsay ";
  const size_t begin = text.rfind(opening);
  Lane& script = lanes_[lane];
  script.prompt_tokens = static_cast<int>(prompt.size());
  script.reply.clear();
  if (begin == std::string::npos) {
    return;
  }
  const size_t from = begin + opening.size();
  script.reply =
      tokenizer_.encode(text.substr(from, text.find("<|im_end|>\n<|im_start|>assistant", from) - from));
}

}  // namespace orfebre::testing
