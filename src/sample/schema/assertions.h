// What a set of schemas that must all hold says about a value, with references, allOf, anyOf and oneOf worked
// out: a list of alternatives, each a plain conjunction.
#pragma once

#include "base/python_json.h"
#include "sample/automaton/decimal.h"
#include "sample/schema/document.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace orfebre::schema {

using Types = unsigned;
enum TypeBit : Types {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,  // numbers that are no integers; the type "number" is both bits
  kString = 16,
  kArray = 32,
  kObject = 64,
  kAnyType = 127
};

Types type_of(const PyJson& value);

// Schemas that must all hold; sorted, without repeats. Empty: any value.
using Conjunction = std::vector<const PyJson*>;
void add_to(Conjunction& all, const PyJson& schema);

struct Assertions {
  Types types = kAnyType;
  Types implied = 0;  // types of which the other keywords speak
  // "enum" and "const": only these values.
  bool has_values = false;
  std::vector<const PyJson*> values;

  std::optional<automaton::Bound> low, high;
  std::vector<const PyJson*> multiples;  // the values of "multipleOf"
  int64_t min_length = 0, max_length = -1;
  std::vector<const PyJson*> patterns, formats;  // the values of the keywords
  std::vector<const PyJson*> objects, arrays;    // schemas with keywords for them
  std::vector<std::string> required;
  int64_t min_properties = 0, max_properties = -1;
  int64_t min_items = 0, max_items = -1;

  // The types of a value that is to be written: where "type" is absent, those of which other keywords speak.
  Types written_types() const { return types == kAnyType && !has_values && implied != 0 ? implied : types; }
  bool is_anything() const { return types == kAnyType && !has_values && implied == 0; }
};

// One compilation's settings, and what it has found out on the way.
struct ReadContext {
  // Keywords that cannot be honoured are passed over instead of refused: for the parameters of tools, where
  // the schema is the client's description of its own function.
  bool is_lenient = false;
  std::set<const PyJson*> exclusive_lists;  // of oneOf, checked
  size_t n_comparisons = 0;
  size_t n_visits = 0;
};

// Throws SchemaError: kInvalidRequest for what is no schema, kUnsupported for a keyword that cannot be
// honoured, a oneOf whose branches may hold together, or more than 500 alternatives.
std::vector<Assertions> alternatives(const Document& document, const Conjunction& schemas,
                                     ReadContext& context);

// A text that two values share exactly if JSON Schema calls them equal.
std::string canonical_text(const PyJson& value);

// Two branches of a oneOf of which it is not certain that no value satisfies both: by types, values, bounds
// or a property that distinguishes them. nullopt: all exclude each other.
std::optional<std::pair<size_t, size_t>> first_overlap(const Document& document, const PyJson& branches,
                                                       ReadContext& context);

}  // namespace orfebre::schema
