#include "sample/schema/properties.h"

#include "sample/automaton/regex.h"
#include "sample/schema/strings.h"

#include <algorithm>
#include <unordered_set>

namespace orfebre::schema {

using automaton::CharDfa;

PropertyLookup::PropertyLookup(const Assertions& assertions, const Document& document, ReadContext& context)
    : document_(document) {
  bool declares = false, opens = false;
  std::unordered_set<std::string_view> known;
  for (const PyJson* schema : assertions.objects) {
    first_ = first_ == nullptr ? schema : first_;
    Object object;
    if (const PyJson* properties = schema->find("properties")) {
      declares = true;
      for (const PyJsonMember& member : properties->members) {
        object.declared.emplace(member.key, &member.value);
        if (known.insert(member.key).second) {
          names_.push_back(member.key);
        }
      }
    }
    if (const PyJson* patterns = schema->find("patternProperties")) {
      declares = true;
      for (const PyJsonMember& member : patterns->members) {
        try {
          object.patterns.push_back({automaton::regex_dfa(member.key), &member.value});
        } catch (const Error& error) {
          document.fail_at(member.value, error.kind(), error.what());
        }
      }
    }
    object.additional = schema->find("additionalProperties");
    const bool forbids = object.additional != nullptr && object.additional->kind == PyJson::Kind::kBool &&
                         !object.additional->boolean;
    opens = opens || (object.additional != nullptr && !forbids);
    objects_.push_back(std::move(object));
    if (const PyJson* names = schema->find("propertyNames")) {
      read_names(*names, context);
    }
  }
  for (const std::string& name : assertions.required) {
    if (known.insert(name).second) {
      names_.push_back(name);
    }
  }
  is_closed_ = declares && !opens;
}

void PropertyLookup::read_names(const PyJson& schema, ReadContext& context) {
  const std::vector<Assertions> found = alternatives(document_, {&schema}, context);
  if (found.size() > 1) {
    document_.fail_at(schema, ErrorKind::kUnsupported, "alternatives cannot be honoured here");
  }
  CharDfa names;
  if (!found.empty() && (found[0].types & kString) != 0) {
    const StringLanguage language = string_language(found[0], document_, context);
    if (found[0].has_values) {
      std::vector<std::string> texts;
      for (const PyJson* value : found[0].values) {
        if (value->is_string() && satisfies(language, value->text)) {
          texts.push_back(value->text);
        }
      }
      names = automaton::of_texts(texts);
    } else if (language.is_counted) {
      names = automaton::with_length(language.texts, language.least, language.most);
    } else {
      names = language.texts;
    }
  }
  allowed_names_ = allowed_names_ ? intersection(*allowed_names_, names) : names;
}

std::optional<Conjunction> PropertyLookup::schemas(const std::string& name) const {
  if (allowed_names_ && !accepts(*allowed_names_, name)) {
    return std::nullopt;
  }
  Conjunction all;
  for (const Object& object : objects_) {
    const auto declared = object.declared.find(name);
    bool is_known = declared != object.declared.end();
    if (is_known) {
      add_to(all, *declared->second);
    }
    for (const Pattern& pattern : object.patterns) {
      if (accepts(pattern.names, name)) {
        add_to(all, *pattern.schema);
        is_known = true;
      }
    }
    if (!is_known && object.additional != nullptr) {
      add_to(all, *object.additional);
    }
  }
  return all;
}

// The names that are left are split by every pattern into those that match and those that do not.
std::vector<PropertyLookup::Others> PropertyLookup::others() const {
  constexpr size_t kMaxKinds = 32;
  CharDfa left = intersection(automaton::any_text(), complement(automaton::of_texts(names_)));
  if (allowed_names_) {
    left = intersection(left, *allowed_names_);
  }
  struct Kind {
    CharDfa names;
    Conjunction schemas;
    bool is_matched = false;  // by a pattern of any schema
  };
  std::vector<Kind> kinds;
  kinds.push_back({std::move(left), {}, false});
  for (const Object& object : objects_) {
    std::vector<std::pair<Kind, bool>> split;  // and whether a pattern of this schema matched
    split.reserve(kinds.size());
    for (Kind& kind : kinds) {
      split.emplace_back(std::move(kind), false);
    }
    for (const Pattern& pattern : object.patterns) {
      std::vector<std::pair<Kind, bool>> finer;
      for (const auto& [kind, matched] : split) {
        Kind inside{intersection(kind.names, pattern.names), kind.schemas, true};
        add_to(inside.schemas, *pattern.schema);
        Kind outside{intersection(kind.names, complement(pattern.names)), kind.schemas, kind.is_matched};
        finer.emplace_back(std::move(inside), true);
        finer.emplace_back(std::move(outside), matched);
      }
      std::erase_if(finer, [](const auto& entry) { return entry.first.names.empty(); });
      split = std::move(finer);
      if (split.size() > kMaxKinds) {
        document_.fail_at(*first_, ErrorKind::kUnsupported,
                          "too large: too many patternProperties that overlap");
      }
    }
    kinds.clear();
    for (auto& [kind, matched] : split) {
      if (!matched && object.additional != nullptr) {
        add_to(kind.schemas, *object.additional);
      }
      kinds.push_back(std::move(kind));
    }
  }
  std::vector<Others> others;
  for (Kind& kind : kinds) {
    const bool is_false = std::any_of(kind.schemas.begin(), kind.schemas.end(), [](const PyJson* schema) {
      return schema->kind == PyJson::Kind::kBool && !schema->boolean;
    });
    if (!kind.names.empty() && !is_false && (kind.is_matched || !is_closed_)) {
      others.push_back({std::move(kind.names), std::move(kind.schemas)});
    }
  }
  return others;
}

}  // namespace orfebre::schema
