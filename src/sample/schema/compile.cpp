#include "sample/schema/compile.h"

#include "sample/schema/compiler.h"

namespace orfebre::schema {
namespace {

using automaton::Program;
using automaton::ProgramBuilder;
using automaton::RuleId;
using automaton::StateId;

std::vector<RuleId> answer_rules(ProgramBuilder& builder, const Document& document, const AnswerForm& form) {
  std::vector<RuleId> rules;
  if (form.any_object || form.schema) {
    Compiler compiler(builder, document, false);
    if (form.any_object) {
      rules.push_back(compiler.any_object_rule(kAnyDepth));
    }
    if (form.schema) {
      Conjunction root;
      add_to(root, *form.schema);
      rules.push_back(compiler.value_rule(root));
    }
    compiler.finish();
  }
  if (!form.tools.empty()) {
    rules.push_back(
        ToolCallWriter(builder, document, form.call_tokens).write(form.tools, form.parallel_calls));
  }
  return rules;
}

}  // namespace

std::shared_ptr<const Program> compile_answer(const AnswerForm& form) {
  Document document;
  if (form.schema) {
    document.add_root(*form.schema, form.schema_path);
  }
  for (const ToolDeclaration& tool : form.tools) {
    document.add_root(tool.parameters, tool.path);
  }
  try {
    ProgramBuilder builder;
    const std::vector<RuleId> rules = answer_rules(builder, document, form);
    const RuleId root = builder.add_rule();
    const StateId end = builder.add_state(root);
    builder.set_final(end);
    StateId start = builder.start(root);
    for (int breaks = 0; breaks <= (form.leading_breaks ? 2 : 0); ++breaks) {
      start = breaks == 0 ? start : builder.add_text(start, "\n");
      for (const RuleId rule : rules) {
        builder.add_call(start, rule, end);
      }
    }
    return std::make_shared<Program>(builder.finish(root));
  } catch (const SchemaError&) {
    throw;
  } catch (const Error& error) {
    const std::string path = form.schema ? form.schema_path : form.tools.empty() ? "" : form.tools[0].path;
    throw SchemaError(error.kind(), path, error.what());
  }
}

}  // namespace orfebre::schema
