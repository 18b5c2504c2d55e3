#include "sample/schema/compile.h"

#include "sample/schema/compiler.h"

namespace orfebre::schema {
namespace {

using automaton::Program;
using automaton::ProgramBuilder;
using automaton::RuleId;
using automaton::StateId;

RuleId root_rule(ProgramBuilder& builder, RuleId value, bool leading_breaks) {
  const RuleId root = builder.add_rule();
  StateId start = builder.start(root);
  const StateId end = builder.add_state(root);
  builder.set_final(end);
  builder.add_call(start, value, end);
  for (int i = 0; leading_breaks && i < 2; ++i) {
    start = builder.add_text(start, "\n");
    builder.add_call(start, value, end);
  }
  return root;
}

}  // namespace

std::shared_ptr<const Program> compile_schema(const PyJson& schema, const std::string& path,
                                              bool leading_breaks) {
  Document document;
  document.add_root(schema, path);
  try {
    ProgramBuilder builder;
    Compiler compiler(builder, document, false);
    Conjunction root;
    add_to(root, schema);
    const RuleId value = compiler.value_rule(root);
    compiler.finish();
    return std::make_shared<Program>(builder.finish(root_rule(builder, value, leading_breaks)));
  } catch (const SchemaError&) {
    throw;
  } catch (const Error& error) {
    throw SchemaError(error.kind(), path, error.what());
  }
}

std::shared_ptr<const Program> compile_any_object(bool leading_breaks) {
  const Document document;
  ProgramBuilder builder;
  Compiler compiler(builder, document, false);
  const RuleId value = compiler.any_object_rule(kAnyDepth);
  return std::make_shared<Program>(builder.finish(root_rule(builder, value, leading_breaks)));
}

}  // namespace orfebre::schema
