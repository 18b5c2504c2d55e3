#include "sample/schema/assertions.h"

#include "sample/schema/keyword_reader.h"

#include <algorithm>
#include <deque>
#include <set>

namespace orfebre::schema {
namespace {

constexpr size_t kMaxAlternatives = 500;
constexpr size_t kMaxVisits = 10'000;      // schemas read for one conjunction, over all alternatives
constexpr size_t kMaxAllVisits = 300'000;  // for one compilation
constexpr int kMaxChoices = 64;            // one within the other

class Expander {
 public:
  Expander(const Document& document, ReadContext& context) : document_(document), context_(context) {}

  std::vector<Assertions> run(const Conjunction& schemas) {
    Way way;
    for (const PyJson* schema : schemas) {
      way.todo.push_back({schema, nullptr});
    }
    expand(std::move(way));
    return std::move(found_);
  }

 private:
  // The schemas through which one was reached without a step into the value.
  struct Chain {
    const PyJson* schema;
    const Chain* above;
  };
  struct Task {
    const PyJson* schema;
    const Chain* above;
  };
  // One choice of branches, still being read.
  struct Way {
    std::deque<Task> todo;     // must hold
    std::deque<Task> choices;  // lists of which one branch must hold
    std::set<const PyJson*> seen;
    Assertions assertions;
  };

  void expand(Way way) {
    while (!way.todo.empty()) {
      const Task task = way.todo.front();
      way.todo.pop_front();
      if (!read(way, task)) {
        return;
      }
    }
    if (way.choices.empty()) {
      if (way.assertions.types != 0) {
        found_.push_back(std::move(way.assertions));
      }
      return;
    }
    const Task choice = way.choices.front();
    way.choices.pop_front();
    if (++depth_ > kMaxChoices) {
      document_.fail_at(*choice.schema, ErrorKind::kUnsupported,
                        fmt::format("too large: more than {} choices within each other", kMaxChoices));
    }
    for (const PyJson& branch : choice.schema->items) {
      if (found_.size() > kMaxAlternatives) {
        document_.fail_at(*choice.schema, ErrorKind::kUnsupported,
                          fmt::format("too large: more than {} combinations of branches", kMaxAlternatives));
      }
      Way next = way;
      next.todo.push_back({&branch, choice.above});
      expand(std::move(next));
    }
    --depth_;
  }

  // False when this way allows nothing.
  bool read(Way& way, const Task& task) {
    const PyJson& schema = *task.schema;
    if (schema.kind == PyJson::Kind::kBool) {
      return schema.boolean;
    }
    if (!schema.is_object()) {
      document_.fail_at(schema, ErrorKind::kInvalidRequest, "expected a schema: an object, true or false");
    }
    for (const Chain* above = task.above; above != nullptr; above = above->above) {
      if (above->schema == &schema) {
        return false;  // it would have to hold before it holds
      }
    }
    if (!way.seen.insert(&schema).second) {
      return true;
    }
    if (++n_visits_ > kMaxVisits || ++context_.n_visits > kMaxAllVisits) {
      document_.fail_at(schema, ErrorKind::kUnsupported, "too large: too many references and branches");
    }
    chains_.push_back({&schema, task.above});
    const Chain* chain = &chains_.back();
    read_keywords(way.assertions, document_, schema, context_);
    for (const char* keyword : {"$ref", "allOf", "anyOf", "oneOf"}) {
      if (const PyJson* value = schema.find(keyword)) {
        combine(way, keyword, *value, chain);
      }
    }
    return way.assertions.types != 0;
  }

  void combine(Way& way, std::string_view keyword, const PyJson& value, const Chain* chain) {
    if (keyword == "$ref") {
      if (!value.is_string()) {
        document_.fail_at(value, ErrorKind::kInvalidRequest, "expected a reference");
      }
      way.todo.push_back({&document_.resolve(value, value.text), chain});
      return;
    }
    if (value.kind != PyJson::Kind::kArray || value.items.empty()) {
      document_.fail_at(value, ErrorKind::kInvalidRequest, "expected an array of schemas, at least one");
    }
    if (keyword == "allOf") {
      for (const PyJson& part : value.items) {
        way.todo.push_back({&part, chain});
      }
      return;
    }
    // Noted before it is checked: the check itself comes by here, and may then take it for granted.
    if (keyword == "oneOf" && !context_.is_lenient && context_.exclusive_lists.insert(&value).second) {
      require_exclusive(value);
    }
    way.choices.push_back({&value, chain});
  }

  void require_exclusive(const PyJson& list) {
    constexpr size_t kMaxBranches = 100;
    if (list.items.size() > kMaxBranches) {
      document_.fail_at(list, ErrorKind::kUnsupported,
                        fmt::format("too large: more than {} branches", kMaxBranches));
    }
    if (const auto pair = first_overlap(document_, list, context_)) {
      document_.fail_at(list, ErrorKind::kUnsupported,
                        fmt::format("branches {} and {} are not known to exclude each other; give them "
                                    "different types, or a required property with different constants, or "
                                    "use anyOf",
                                    pair->first, pair->second));
    }
  }

  const Document& document_;
  ReadContext& context_;
  std::vector<Assertions> found_;
  std::deque<Chain> chains_;  // stays in place
  size_t n_visits_ = 0;
  int depth_ = 0;
};

}  // namespace

Types type_of(const PyJson& value) {
  switch (value.kind) {
    case PyJson::Kind::kNull: return kNull;
    case PyJson::Kind::kBool: return kBoolean;
    case PyJson::Kind::kInteger: return kInteger;
    case PyJson::Kind::kFloat: {
      const auto number = automaton::parse_decimal(value.text);
      return number && number->is_integer() ? kInteger : kNumber;
    }
    case PyJson::Kind::kString: return kString;
    case PyJson::Kind::kArray: return kArray;
    case PyJson::Kind::kObject: return kObject;
  }
  return 0;
}

void add_to(Conjunction& all, const PyJson& schema) {
  if (schema.kind == PyJson::Kind::kBool && schema.boolean) {
    return;
  }
  const auto place = std::lower_bound(all.begin(), all.end(), &schema, std::less<>());
  if (place == all.end() || *place != &schema) {
    all.insert(place, &schema);
  }
}

std::vector<Assertions> alternatives(const Document& document, const Conjunction& schemas,
                                     ReadContext& context) {
  return Expander(document, context).run(schemas);
}

std::string canonical_text(const PyJson& value) {
  switch (value.kind) {
    case PyJson::Kind::kInteger:
    case PyJson::Kind::kFloat: {
      const auto number = automaton::parse_decimal(value.text);
      return number ? number->text() : value.text;
    }
    case PyJson::Kind::kArray: {
      std::string text = "[";
      for (const PyJson& item : value.items) {
        text += canonical_text(item) + ",";
      }
      return text + "]";
    }
    case PyJson::Kind::kObject: {
      std::vector<std::string> members;
      for (const PyJsonMember& member : value.members) {
        std::string text;
        append_json_string(text, member.key);
        members.push_back(text + ":" + canonical_text(member.value));
      }
      std::sort(members.begin(), members.end());
      std::string text = "{";
      for (const std::string& member : members) {
        text += member + ",";
      }
      return text + "}";
    }
    default: return json_dumps_as_written(value);
  }
}

}  // namespace orfebre::schema
