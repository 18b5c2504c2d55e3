// The compiler's inside: from conjunctions of schemas to rules of a ProgramBuilder. Its users are compile.cpp
// and tool_calls.cpp.
//
// What is written, of all that a schema allows:
// - Properties in the order in which they are declared; those that are not required may be left out. Others
//   follow behind them, but only where additionalProperties or patternProperties says so, or no properties
//   are declared at all. Likewise items behind prefixItems only where "items" is given or minItems
//   asks for more.
// - White space: between tokens of JSON a space, or a line break with up to kMaxIndent spaces or tabs; behind
//   ':' at most a space; before ',' and ':' none. So a model can write on one line or indent, and not write
//   white space for ever.
// - Integers without fraction and exponent; numbers as automaton/decimal.h says.
// - Values of enum and const as the schema writes them.
// - Where a schema says nothing ({} or true) any JSON value, nested at most kAnyDepth deep.
#pragma once

#include "sample/automaton/program_builder.h"
#include "sample/schema/assertions.h"
#include "sample/schema/strings.h"

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace orfebre::schema {

inline constexpr int kMaxIndent = 40;
inline constexpr int kAnyDepth = 32;

class Compiler {
 public:
  Compiler(automaton::ProgramBuilder& builder, const Document& document, bool is_lenient)
      : builder_(builder), document_(document) {
    context_.is_lenient = is_lenient;
  }

  // The rule of the values that satisfy all schemas; written by finish(), since schemas may lead back to
  // themselves. Throws SchemaError.
  automaton::RuleId value_rule(const Conjunction& schemas);
  // Writes the rules that are still to be written, and those that they need.
  void finish();
  // Any JSON value, or any object, nested at most `depth` deep.
  automaton::RuleId any_rule(int depth);
  automaton::RuleId any_object_rule(int depth);

  // For the parameters of tools.
  std::vector<Assertions> alternatives_of(const Conjunction& schemas) {
    return alternatives(document_, schemas, context_);
  }
  StringLanguage string_language_of(const Assertions& assertions) const {
    return string_language(assertions, document_, context_);
  }
  // Calls the rules of an alternative's values, except those that are strings if `but_strings`.
  void call_values(automaton::StateId from, const Assertions& assertions, automaton::StateId to,
                   bool but_strings);
  // One of these texts; the beginnings that they share are written once.
  automaton::RuleId texts_rule(const std::vector<std::string>& texts);
  // The values among enum and const that satisfy the rest.
  std::vector<const PyJson*> allowed_values(const Assertions& assertions) const;

 private:
  friend class ObjectWriter;
  friend class ArrayWriter;

  void call_string(automaton::StateId from, const Assertions& assertions, automaton::StateId to);
  void call_number(automaton::StateId from, const Assertions& assertions, automaton::StateId to);
  automaton::CharDfa with_multiples(automaton::CharDfa numbers, const Assertions& assertions) const;
  automaton::RuleId string_rule(const StringLanguage& language);
  automaton::RuleId text_rule(const std::string& text);
  automaton::RuleId dfa_rule(const automaton::CharDfa& dfa);
  automaton::RuleId json_rule(const PyJson& value);
  automaton::RuleId space_rule();
  automaton::RuleId any_array_rule(int depth);
  automaton::RuleId object_rule(const Assertions& assertions);
  automaton::RuleId array_rule(const Assertions& assertions);
  // White space, then `to`.
  void space(automaton::StateId from, automaton::StateId to) { builder_.add_call(from, space_rule(), to); }
  // ':' and at most a space.
  automaton::StateId colon(automaton::StateId from);
  [[noreturn]] void fail_at(const PyJson& node, ErrorKind kind, const std::string& fault) const {
    document_.fail_at(node, kind, fault);
  }

  automaton::ProgramBuilder& builder_;
  const Document& document_;
  ReadContext context_;
  std::map<Conjunction, automaton::RuleId> values_;
  std::deque<std::pair<Conjunction, automaton::RuleId>> unwritten_;
  std::map<std::string, automaton::RuleId> numbers_;  // by bounds
  std::map<std::string, automaton::RuleId> texts_;
  std::map<int, automaton::RuleId> any_, any_objects_, any_arrays_;
  std::optional<automaton::RuleId> space_, any_string_, any_number_;
};

}  // namespace orfebre::schema
