// What an object's schemas say about a property of a given name.
#pragma once

#include "sample/automaton/char_dfa.h"
#include "sample/schema/assertions.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orfebre::schema {

class PropertyLookup {
 public:
  // Both must outlive this. Throws SchemaError at a pattern or a propertyNames that cannot be honoured.
  PropertyLookup(const Assertions& assertions, const Document& document, ReadContext& context);

  // Declared or required, in the order of their first appearance.
  const std::vector<std::string>& names() const { return names_; }
  // What the value must satisfy; nullopt: the property must not be there.
  std::optional<Conjunction> schemas(const std::string& name) const;

  // Names that are not among names(): those of one kind, and what their values must satisfy.
  struct Others {
    automaton::CharDfa names;
    Conjunction schemas;
  };
  std::vector<Others> others() const;

 private:
  struct Pattern {
    automaton::CharDfa names;
    const PyJson* schema;
  };
  struct Object {
    std::unordered_map<std::string_view, const PyJson*> declared;
    std::vector<Pattern> patterns;
    const PyJson* additional = nullptr;
  };
  void read_names(const PyJson& schema, ReadContext& context);

  const Document& document_;
  std::vector<Object> objects_;
  std::vector<std::string> names_;
  std::optional<automaton::CharDfa> allowed_names_;  // by propertyNames
  bool is_closed_ = false;
  const PyJson* first_ = nullptr;
};

}  // namespace orfebre::schema
