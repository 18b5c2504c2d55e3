// Rules of tool calls in the model's own form:
//   <tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>
// Strings stand in it as they are, without the closing tags of the form; all other values are JSON.
#pragma once

#include "base/python_json.h"
#include "sample/schema/compiler.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orfebre::schema {

struct ToolDeclaration {
  std::string name;
  PyJson parameters;       // the schema; null: none
  std::string path;        // of the parameters, for errors
  bool is_strict = false;  // what cannot be honoured is refused; otherwise passed over
};

// The ids of the tags that are control tokens; without an id the text is written.
struct CallTokens {
  std::optional<int32_t> open, close;  // <tool_call>, </tool_call>
};

class ToolCallWriter {
 public:
  // `document` holds the tools' parameters as roots. All must outlive this.
  ToolCallWriter(automaton::ProgramBuilder& builder, const Document& document, const CallTokens& tokens)
      : builder_(builder), document_(document), tokens_(tokens) {}

  // One call of one of the tools, or several with a line break between if `parallel`. Throws SchemaError.
  automaton::RuleId write(std::span<const ToolDeclaration> tools, bool parallel);

 private:
  automaton::RuleId write_function(const ToolDeclaration& tool);
  void write_parameters(automaton::StateId from, const Assertions& parameters, Compiler& compiler,
                        const ToolDeclaration& tool, automaton::StateId to);
  automaton::RuleId write_value(const Conjunction& schemas, Compiler& compiler);
  automaton::RuleId raw_text(const StringLanguage& language);

  automaton::ProgramBuilder& builder_;
  const Document& document_;
  const CallTokens tokens_;
};

}  // namespace orfebre::schema
