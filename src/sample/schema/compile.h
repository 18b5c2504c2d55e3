// From what a request demands of its answer to an automaton. Compiled once a request, off the engine thread.
// In which form values are written: compiler.h. What is refused: docs/api.md.
#pragma once

#include "base/python_json.h"
#include "sample/automaton/program.h"
#include "sample/schema/document.h"
#include "sample/schema/tool_calls.h"

#include <memory>
#include <string>
#include <vector>

namespace orfebre::schema {

// The answer is one of what is demanded here; at least one thing must be.
struct AnswerForm {
  bool any_object = false;             // a JSON object
  std::optional<PyJson> schema;        // JSON that satisfies this schema
  std::string schema_path;             // the schema's place in the request, for errors
  std::vector<ToolDeclaration> tools;  // a call of one of these
  bool parallel_calls = true;          // or several calls
  CallTokens call_tokens;
  // The answer may begin with up to two line breaks, as models write them behind their thinking.
  bool leading_breaks = false;
};

// Throws SchemaError: kInvalidRequest for what is no schema or allows nothing, kUnsupported for what cannot
// be honoured or is too large.
std::shared_ptr<const automaton::Program> compile_answer(const AnswerForm& form);

}  // namespace orfebre::schema
