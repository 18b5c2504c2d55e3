// compile_answer_request and the vocabulary of answer_policy.h.
#include "sample/schema/compile.h"
#include "server/api/api_error.h"
#include "server/constraint/answer_policy.h"

#include <algorithm>
#include <unordered_set>

namespace orfebre {
namespace {

std::optional<int32_t> control_token(const text::Tokenizer& tokenizer, std::string_view text) {
  const auto id = tokenizer.id_of(text);
  return id && tokenizer.is_added(*id) ? id : std::nullopt;
}

std::vector<schema::ToolDeclaration> declarations(std::span<const std::string> tools,
                                                  const std::vector<std::string>& callable) {
  const std::unordered_set<std::string_view> wanted(callable.begin(), callable.end());
  std::unordered_set<std::string_view> found;
  std::vector<schema::ToolDeclaration> declared;
  for (size_t i = 0; i < tools.size(); ++i) {
    const PyJson tool = parse_python_json(tools[i], fmt::format("tools[{}]", i), true);
    const PyJson* function = tool.find("function");
    const PyJson& holder = function != nullptr ? *function : tool;
    const PyJson* name = holder.find("name");
    if (name == nullptr || !name->is_string()) {
      continue;
    }
    const auto match = wanted.find(name->text);
    if (!wanted.empty() && match == wanted.end()) {
      continue;
    }
    if (match != wanted.end()) {
      found.insert(*match);
    }
    const PyJson* parameters = holder.find("parameters");
    const PyJson* strict = holder.find("strict");
    declared.push_back({name->text, parameters != nullptr ? *parameters : PyJson{},
                        fmt::format("tools[{}].function.parameters", i),
                        strict != nullptr && strict->boolean});
  }
  if (found.size() < wanted.size()) {
    api::fail_param("tool_choice", "expected the name of one of the request's tools, found another");
  }
  return declared;
}

}  // namespace

std::shared_ptr<const mask::Vocabulary> MaskVocabulary::get(const text::Tokenizer& tokenizer) {
  std::call_once(made_, [&] {
    std::vector<std::string_view> bytes;
    bytes.reserve(static_cast<size_t>(tokenizer.vocab_size()));
    for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      bytes.push_back(tokenizer.is_added(id) ? std::string_view() : tokenizer.token_bytes(id));
    }
    vocabulary_ = std::make_shared<mask::Vocabulary>(bytes);
  });
  return vocabulary_;
}

std::shared_ptr<const automaton::Program> compile_answer_request(const api::AnswerRequest& answer,
                                                                 std::span<const std::string> tools,
                                                                 const text::Tokenizer& tokenizer,
                                                                 bool starts_in_think) {
  if (!answer.is_constrained()) {
    return nullptr;
  }
  using Format = api::AnswerRequest::Format;
  schema::AnswerForm form;
  if (answer.call_required && tools.empty()) {
    api::fail_param("tool_choice", "expected tools beside it, found none");
  }
  form.any_object = answer.format == Format::kJsonObject && !answer.call_required;
  if (answer.format == Format::kJsonSchema && !answer.call_required) {
    form.schema = parse_python_json(answer.schema_json, answer.schema_path);
    form.schema_path = answer.schema_path;
  }
  form.tools = declarations(tools, answer.callable);
  form.parallel_calls = answer.parallel_calls;
  form.call_tokens = {control_token(tokenizer, "<tool_call>"), control_token(tokenizer, "</tool_call>")};
  form.leading_breaks = starts_in_think;
  try {
    return schema::compile_answer(form);
  } catch (const schema::SchemaError& error) {
    throw api::ApiError(error.kind(), error.path(), error.what());
  }
}

}  // namespace orfebre
