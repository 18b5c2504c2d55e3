#include "sample/schema/containers.h"

#include <algorithm>
#include <unordered_set>

namespace orfebre::schema {

using automaton::Action;
using automaton::kNoLimit;
using automaton::RuleId;
using automaton::StateId;

RuleId Compiler::array_rule(const Assertions& assertions) {
  return ArrayWriter(*this).write(assertions);
}

RuleId Compiler::object_rule(const Assertions& assertions) {
  return ObjectWriter(*this, assertions).write();
}

// ---- arrays ----

namespace {

bool is_list(const PyJson* value) {
  return value != nullptr && value->kind == PyJson::Kind::kArray;
}

// A schema's items by position: "prefixItems", or "items" as an array (up to draft 2019-09).
const PyJson* positional(const PyJson& schema) {
  const PyJson* prefix = schema.find("prefixItems");
  const PyJson* items = schema.find("items");
  return prefix != nullptr ? prefix : is_list(items) ? items : nullptr;
}

const PyJson* rest_of(const PyJson& schema) {
  const PyJson* items = schema.find("items");
  return is_list(items) ? schema.find("additionalItems") : items;
}

}  // namespace

Conjunction ArrayWriter::schemas_at(const Assertions& assertions, size_t index) const {
  Conjunction all;
  for (const PyJson* schema : assertions.arrays) {
    const PyJson* prefix = positional(*schema);
    if (prefix != nullptr && index < prefix->items.size()) {
      add_to(all, prefix->items[index]);
    } else if (const PyJson* rest = rest_of(*schema)) {
      add_to(all, *rest);
    }
  }
  return all;
}

RuleId ArrayWriter::write(const Assertions& assertions) {
  size_t n_prefix = 0;
  bool says_rest = false;
  for (const PyJson* schema : assertions.arrays) {
    const PyJson* prefix = positional(*schema);
    n_prefix = std::max(n_prefix, prefix == nullptr ? 0 : prefix->items.size());
    says_rest = says_rest || rest_of(*schema) != nullptr;
  }
  const auto low = static_cast<int32_t>(assertions.min_items);
  auto high = static_cast<int32_t>(assertions.max_items);
  if (high >= 0 && low > high) {
    return builder_.add_rule();  // without an end: there is no such array
  }
  if (n_prefix == 0) {
    return write_list(compiler_.value_rule(schemas_at(assertions, 0)), low, high);
  }
  const auto n_positions = static_cast<int32_t>(n_prefix);
  if (!says_rest && low <= n_positions && (high < 0 || high > n_positions)) {
    high = n_positions;
  }
  // By position, then a list: its counter stands for the items behind the prefix.
  const int32_t rest_low = std::max(low - n_positions, 0);
  const int32_t rest_high = high < 0 ? kNoLimit : std::max(high - n_positions, 0);
  const RuleId rule = builder_.add_rule(rest_low, rest_high);
  const StateId closing = builder_.add_state(rule);
  builder_.set_final(builder_.add_text(closing, "]"));
  StateId state = builder_.add_text(builder_.start(rule), "[");
  for (int32_t i = 0; i < n_positions && (high < 0 || i < high); ++i) {
    const StateId item = builder_.add_state(rule), behind = builder_.add_state(rule);
    if (low <= i) {
      compiler_.space(state, closing);
    }
    compiler_.space(i == 0 ? state : builder_.add_text(state, ","), item);
    builder_.add_call(item, compiler_.value_rule(schemas_at(assertions, static_cast<size_t>(i))), behind);
    state = behind;
  }
  if (high >= 0 && high < n_positions) {
    compiler_.space(state, closing);
    return rule;
  }
  const StateId end = builder_.add_state(rule), comma = builder_.add_state(rule),
                item = builder_.add_state(rule), behind = builder_.add_state(rule);
  if (rest_low == 0) {
    builder_.add_jump(state, end);
  }
  builder_.add_jump(behind, end, Action::kClose);
  compiler_.space(end, closing);
  builder_.add_edge(state, ',', ',', comma, Action::kCount);
  builder_.add_edge(behind, ',', ',', comma, Action::kCount);
  compiler_.space(comma, item);
  builder_.add_call(item, compiler_.value_rule(schemas_at(assertions, n_prefix)), behind);
  return rule;
}

RuleId ArrayWriter::write_list(RuleId item, int32_t low, int32_t high) {
  const RuleId rule = builder_.add_rule(low, high);
  const StateId open = builder_.add_text(builder_.start(rule), "[");
  const StateId first = builder_.add_state(rule), next = builder_.add_state(rule),
                behind = builder_.add_state(rule), closing = builder_.add_state(rule);
  builder_.set_final(builder_.add_text(closing, "]"));
  compiler_.space(open, first);
  builder_.add_jump(first, next, Action::kCount);
  if (low == 0) {  // else only behind items: where there are none, there is no such array
    builder_.add_jump(first, closing);
  }
  builder_.add_call(next, item, behind);
  const StateId comma = builder_.add_state(rule);
  builder_.add_edge(behind, ',', ',', comma, Action::kCount);
  compiler_.space(comma, next);
  const StateId end = builder_.add_state(rule);
  builder_.add_jump(behind, end, Action::kClose);
  compiler_.space(end, closing);
  return rule;
}

// ---- objects ----

ObjectWriter::ObjectWriter(Compiler& compiler, const Assertions& assertions)
    : compiler_(compiler),
      builder_(compiler.builder_),
      assertions_(assertions),
      lookup_(assertions, compiler.document_, compiler.context_) {}

void ObjectWriter::find_properties() {
  const std::unordered_set<std::string_view> required(assertions_.required.begin(),
                                                      assertions_.required.end());
  for (const std::string& name : lookup_.names()) {
    const auto schemas = lookup_.schemas(name);
    const bool is_required = required.contains(name);
    if (schemas || is_required) {
      // Required and forbidden: a rule without an end, so that there is no such object.
      properties_.push_back(
          {name, schemas ? compiler_.value_rule(*schemas) : builder_.add_rule(), is_required});
    }
    if (is_required) {
      first_without_required_ = properties_.size();
    }
  }
  for (const PropertyLookup::Others& kind : lookup_.others()) {
    const bool is_any =
        kind.names.states.size() == 1 && kind.names.states[0].edges == automaton::any_text().states[0].edges;
    const RuleId key = compiler_.string_rule({kind.names, false, 0, -1, is_any});
    others_.emplace_back(key, compiler_.value_rule(kind.schemas));
  }
}

void ObjectWriter::check_counts() const {
  const auto n_required = static_cast<int64_t>(assertions_.required.size());
  const int64_t low = assertions_.min_properties;
  // Names that are not declared might be written twice, and two of them count as one.
  if (!others_.empty() && low > std::max<int64_t>(n_required, 1) && !compiler_.context_.is_lenient) {
    for (const PyJson* schema : assertions_.objects) {
      if (const PyJson* node = schema->find("minProperties")) {
        compiler_.fail_at(
            *node, ErrorKind::kUnsupported,
            "above 1 it cannot be honoured where names are free; name the properties and forbid "
            "others by additionalProperties");
      }
    }
  }
}

// Members written, one more; no further than they are counted.
int64_t ObjectWriter::n_after(int64_t n_members) const {
  return std::min(n_members + 1, most_counted_);
}

bool ObjectWriter::may_close(size_t decided, int64_t n_members) const {
  return decided >= first_without_required_ &&
         n_members >= std::min(assertions_.min_properties, most_counted_);
}

ObjectWriter::Grid ObjectWriter::grid() {
  Grid grid;
  for (size_t i = 0; i <= properties_.size(); ++i) {
    grid.emplace_back();
    for (int64_t n = 0; n <= most_counted_; ++n) {
      grid.back().push_back(builder_.add_state(rule_));
    }
  }
  return grid;
}

RuleId ObjectWriter::write() {
  rule_ = builder_.add_rule();
  find_properties();
  check_counts();
  const bool is_open = !others_.empty();
  const auto n_properties = static_cast<int64_t>(properties_.size());
  const bool has_most =
      assertions_.max_properties >= 0 && (is_open || assertions_.max_properties < n_properties);
  most_counted_ = has_most ? assertions_.max_properties + 1 : 0;
  most_counted_ = std::max(most_counted_, std::min(assertions_.min_properties, n_properties + 1));
  const StateId open = builder_.add_text(builder_.start(rule_), "{");
  closing_ = builder_.add_state(rule_);
  builder_.set_final(builder_.add_text(closing_, "}"));
  const StateId first = builder_.add_state(rule_);
  compiler_.space(open, first);
  if (may_close(0, 0)) {
    builder_.add_jump(first, closing_);
  }
  const Grid before = grid(), after = grid();
  builder_.add_jump(first, before[0][0]);
  write_places(before, after);
  return rule_;
}

// before[i][n]: n members are written and i properties decided; a member must follow. after[i][n]: a member
// has been written.
void ObjectWriter::write_places(const Grid& before, const Grid& after) {
  const size_t n_properties = properties_.size();
  for (size_t i = 0; i <= n_properties; ++i) {
    for (int64_t n = 0; n <= most_counted_; ++n) {
      const auto count = static_cast<size_t>(n);
      const bool is_too_many = assertions_.max_properties >= 0 &&
                               most_counted_ > assertions_.max_properties && n > assertions_.max_properties;
      if (is_too_many) {
        continue;  // without an end
      }
      if (may_close(i, n)) {
        compiler_.space(after[i][count], closing_);
      }
      compiler_.space(builder_.add_text(after[i][count], ","), before[i][count]);
      const auto next = static_cast<size_t>(n_after(n));
      if (i < n_properties) {
        const Property& property = properties_[i];
        std::string key;
        append_json_string(key, property.name);
        write_member(before[i][count], key, property.value, after[i + 1][next]);
        if (!property.is_required) {
          builder_.add_jump(before[i][count], before[i + 1][count]);
        }
        continue;
      }
      for (const auto& [key, value] : others_) {
        const StateId name = builder_.add_state(rule_);
        builder_.add_call(before[i][count], key, name);
        builder_.add_call(compiler_.colon(name), value, after[i][next]);
      }
    }
  }
}

void ObjectWriter::write_member(StateId from, const std::string& key, RuleId value, StateId to) {
  // A state of its own: `from` has jumps beside.
  const StateId start = builder_.add_state(rule_);
  builder_.add_jump(from, start);
  builder_.add_call(compiler_.colon(builder_.add_text(start, key)), value, to);
}

}  // namespace orfebre::schema
