#include "sample/schema/tool_calls.h"

#include "sample/automaton/regex.h"
#include "sample/schema/properties.h"

#include <algorithm>
#include <unordered_set>

namespace orfebre::schema {

using automaton::Action;
using automaton::CharDfa;
using automaton::RuleId;
using automaton::StateId;
using automaton::Writing;

namespace {

// Texts that a reader of calls cannot take for the end of a value.
const CharDfa& texts_without_tags() {
  static const CharDfa dfa = complement(automaton::regex_dfa("</(parameter|function|tool_call)>"));
  return dfa;
}

bool fits_a_tag(std::string_view name) {
  return !name.empty() && name.find_first_of("<>\r\n") == std::string_view::npos;
}

}  // namespace

RuleId ToolCallWriter::write(std::span<const ToolDeclaration> tools, bool parallel) {
  const RuleId rule = builder_.add_rule();
  const StateId open = builder_.add_control(builder_.start(rule), tokens_.open, "<tool_call>");
  const StateId function = builder_.add_text(open, "\n"), behind = builder_.add_state(rule);
  for (const ToolDeclaration& tool : tools) {
    builder_.add_call(function, write_function(tool), behind);
  }
  const StateId end = builder_.add_control(builder_.add_text(behind, "\n"), tokens_.close, "</tool_call>");
  builder_.set_final(end);
  if (parallel) {
    const StateId again = builder_.add_text(end, "\n");
    builder_.add_jump(again, builder_.start(rule));
  }
  return rule;
}

RuleId ToolCallWriter::write_function(const ToolDeclaration& tool) {
  if (!fits_a_tag(tool.name)) {
    throw SchemaError(ErrorKind::kUnsupported, tool.path,
                      "the tool's name cannot stand in a call: it has < or > or "
                      "a line break");
  }
  const RuleId rule = builder_.add_rule();
  const StateId begin = builder_.add_text(builder_.start(rule), "<function=" + tool.name + ">\n");
  const StateId end = builder_.add_state(rule);
  builder_.set_final(builder_.add_text(end, "</function>"));
  if (tool.parameters.kind == PyJson::Kind::kNull) {
    builder_.add_jump(begin, end);
    return rule;
  }
  Compiler compiler(builder_, document_, !tool.is_strict);
  for (const Assertions& parameters : compiler.alternatives_of({&tool.parameters})) {
    if ((parameters.types & kObject) != 0) {
      write_parameters(begin, parameters, compiler, tool, end);
    }
  }
  compiler.finish();
  return rule;
}

// In the order of their declaration; those that are not required may be left out.
void ToolCallWriter::write_parameters(StateId from, const Assertions& parameters, Compiler& compiler,
                                      const ToolDeclaration& tool, StateId to) {
  ReadContext context;
  context.is_lenient = !tool.is_strict;
  const PropertyLookup lookup(parameters, document_, context);
  const std::unordered_set<std::string_view> required(parameters.required.begin(), parameters.required.end());
  const RuleId rule = builder_.rule_of(from);
  StateId place = builder_.add_state(rule);
  builder_.add_jump(from, place);
  for (const std::string& name : lookup.names()) {
    const auto schemas = lookup.schemas(name);
    const bool is_required = required.contains(name);
    const StateId next = builder_.add_state(rule);
    if (!is_required) {
      builder_.add_jump(place, next);
    }
    if (schemas) {
      if (!fits_a_tag(name)) {
        throw SchemaError(
            ErrorKind::kUnsupported, tool.path,
            "a parameter's name cannot stand in a call: it is empty, or has < or > or a line break");
      }
      const StateId start = builder_.add_state(rule), value = builder_.add_state(rule);
      builder_.add_jump(place, start);
      builder_.add_call(builder_.add_text(start, "<parameter=" + name + ">\n"),
                        write_value(*schemas, compiler), value);
      builder_.add_jump(builder_.add_text(value, "\n</parameter>\n"), next);
    }
    place = next;
  }
  builder_.add_jump(place, to);
}

RuleId ToolCallWriter::write_value(const Conjunction& schemas, Compiler& compiler) {
  const RuleId rule = builder_.add_rule();
  const StateId start = builder_.start(rule), end = builder_.add_state(rule);
  builder_.set_final(end);
  for (const Assertions& assertions : compiler.alternatives_of(schemas)) {
    if (assertions.has_values) {
      std::vector<std::string> texts;
      for (const PyJson* value : compiler.allowed_values(assertions)) {
        if (value->is_string()) {
          texts.push_back(value->text);
        }
      }
      std::erase_if(texts, [](const std::string& text) { return !accepts(texts_without_tags(), text); });
      builder_.add_call(start, compiler.texts_rule(texts), end);
      compiler.call_values(start, assertions, end, true);
    } else if (assertions.is_anything()) {
      builder_.add_call(start, raw_text(compiler.string_language_of(assertions)), end);
    } else {
      if ((assertions.written_types() & kString) != 0) {
        builder_.add_call(start, raw_text(compiler.string_language_of(assertions)), end);
      }
      compiler.call_values(start, assertions, end, true);
    }
  }
  return rule;
}

RuleId ToolCallWriter::raw_text(const StringLanguage& language) {
  const RuleId rule =
      language.is_counted ? builder_.add_rule(language.least, language.most) : builder_.add_rule();
  const StateId end = builder_.add_state(rule);
  if (!language.is_empty()) {
    builder_.set_final(end);
  }
  const CharDfa dfa =
      language.is_any_text ? texts_without_tags() : intersection(language.texts, texts_without_tags());
  builder_.add_jump(builder_.start(rule),
                    builder_.add_dfa(rule, dfa, Writing::kRaw, end, language.is_counted));
  return rule;
}

}  // namespace orfebre::schema
