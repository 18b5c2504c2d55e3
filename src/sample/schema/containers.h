// Rules of objects and arrays. compiler.cpp's.
#pragma once

#include "sample/schema/compiler.h"
#include "sample/schema/properties.h"

#include <string>
#include <utility>
#include <vector>

namespace orfebre::schema {

class ArrayWriter {
 public:
  explicit ArrayWriter(Compiler& compiler) : compiler_(compiler), builder_(compiler.builder_) {}

  automaton::RuleId write(const Assertions& assertions);
  // Low to high items of one kind; high < 0: no limit.
  automaton::RuleId write_list(automaton::RuleId item, int32_t low, int32_t high);

 private:
  Conjunction schemas_at(const Assertions& assertions, size_t index) const;

  Compiler& compiler_;
  automaton::ProgramBuilder& builder_;
};

class ObjectWriter {
 public:
  ObjectWriter(Compiler& compiler, const Assertions& assertions);

  automaton::RuleId write();

 private:
  struct Property {
    std::string name;
    automaton::RuleId value;
    bool is_required;
  };
  // A state for each number of properties decided and, where that matters, of members written.
  using Grid = std::vector<std::vector<automaton::StateId>>;

  void find_properties();
  void check_counts() const;
  Grid grid();
  void write_places(const Grid& before, const Grid& after);
  void write_member(automaton::StateId from, const std::string& key, automaton::RuleId value,
                    automaton::StateId to);
  int64_t n_after(int64_t n_members) const;
  bool may_close(size_t decided, int64_t n_members) const;

  Compiler& compiler_;
  automaton::ProgramBuilder& builder_;
  const Assertions& assertions_;
  const PropertyLookup lookup_;
  automaton::RuleId rule_ = 0;
  automaton::StateId closing_ = 0;
  std::vector<Property> properties_;
  size_t first_without_required_ = 0;  // from this property on all may be left out
  std::vector<std::pair<automaton::RuleId, automaton::RuleId>> others_;  // rules of key and value
  int64_t most_counted_ = 0;  // members are counted up to this number; 0: not at all
};

}  // namespace orfebre::schema
