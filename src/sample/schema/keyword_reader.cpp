#include "sample/schema/keyword_reader.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace orfebre::schema {
namespace {

using automaton::Bound;
using automaton::Decimal;

class Reader {
 public:
  Reader(Assertions& to, const Document& document, const PyJson& schema, const ReadContext& context)
      : to_(to), document_(document), schema_(schema), context_(context) {}

  void run() {
    for (const PyJsonMember& member : schema_.members) {
      const auto found = handlers().find(member.key);
      if (found != handlers().end()) {
        (this->*found->second)(member.value);
      } else if (is_beyond(member)) {
        if (!context_.is_lenient) {
          document_.fail_at(member.value, ErrorKind::kUnsupported, "this keyword cannot be honoured");
        }
      }
    }
    if (const PyJson* nullable = schema_.find("nullable"); nullable != nullptr && nullable->boolean) {
      own_types_ |= schema_.find("type") != nullptr ? Types{kNull} : Types{0};
    }
    to_.types &= own_types_;
  }

 private:
  using Handler = void (Reader::*)(const PyJson&);
  static const std::unordered_map<std::string_view, Handler>& handlers() {
    static const std::unordered_map<std::string_view, Handler> map{
        {"type", &Reader::type},
        {"enum", &Reader::values},
        {"const", &Reader::constant},
        {"minimum", &Reader::minimum},
        {"maximum", &Reader::maximum},
        {"exclusiveMinimum", &Reader::exclusive_minimum},
        {"exclusiveMaximum", &Reader::exclusive_maximum},
        {"multipleOf", &Reader::multiple_of},
        {"minLength", &Reader::min_length},
        {"maxLength", &Reader::max_length},
        {"pattern", &Reader::pattern},
        {"format", &Reader::format},
        {"properties", &Reader::object_keyword},
        {"additionalProperties", &Reader::object_keyword},
        {"patternProperties", &Reader::object_keyword},
        {"propertyNames", &Reader::object_keyword},
        {"required", &Reader::required},
        {"minProperties", &Reader::min_properties},
        {"maxProperties", &Reader::max_properties},
        {"items", &Reader::array_keyword},
        {"prefixItems", &Reader::array_keyword},
        {"additionalItems", &Reader::array_keyword},
        {"minItems", &Reader::min_items},
        {"maxItems", &Reader::max_items},
        {"uniqueItems", &Reader::unique_items}};
    return map;
  }

  // Keywords with a meaning that this compiler has not. Others are notes, known or unknown.
  static bool is_beyond(const PyJsonMember& member) {
    static const std::unordered_set<std::string_view> names{"not",
                                                            "if",
                                                            "contains",
                                                            "minContains",
                                                            "maxContains",
                                                            "dependencies",
                                                            "$dynamicRef",
                                                            "unevaluatedProperties",
                                                            "$recursiveRef",
                                                            "extends",
                                                            "disallow",
                                                            "dependentSchemas",
                                                            "unevaluatedItems",
                                                            "dependentRequired"};
    return names.contains(member.key);
  }

  [[noreturn]] void expected(const PyJson& node, const std::string& what) const {
    document_.fail_at(node, ErrorKind::kInvalidRequest, "expected " + what);
  }

  void type(const PyJson& value) {
    static const std::unordered_map<std::string_view, Types> names{
        {"null", kNull},     {"boolean", kBoolean}, {"integer", kInteger}, {"number", kInteger | kNumber},
        {"string", kString}, {"array", kArray},     {"object", kObject}};
    Types types = 0;
    const auto add = [&](const PyJson& name) {
      const auto found = name.is_string() ? names.find(name.text) : names.end();
      if (found == names.end()) {
        expected(name, "null, boolean, integer, number, string, array or object");
      }
      types |= found->second;
    };
    if (value.kind == PyJson::Kind::kArray) {
      std::for_each(value.items.begin(), value.items.end(), add);
    } else {
      add(value);
    }
    own_types_ = types;
  }

  void only(std::vector<const PyJson*> values) {
    if (to_.has_values) {
      std::unordered_set<std::string> allowed;
      for (const PyJson* value : values) {
        allowed.insert(canonical_text(*value));
      }
      std::erase_if(to_.values, [&](const PyJson* v) { return !allowed.contains(canonical_text(*v)); });
    } else {
      to_.values = std::move(values);
    }
    to_.has_values = true;
  }
  void values(const PyJson& list) {
    if (list.kind != PyJson::Kind::kArray) {
      expected(list, "an array of values");
    }
    std::vector<const PyJson*> values;
    for (const PyJson& item : list.items) {
      values.push_back(&item);
    }
    only(std::move(values));
  }
  void constant(const PyJson& value) { only({&value}); }

  Decimal decimal(const PyJson& value) const {
    const bool is_number = value.kind == PyJson::Kind::kInteger || value.kind == PyJson::Kind::kFloat;
    if (!is_number || value.text.find_first_of("NI") != std::string::npos) {
      expected(value, "a number");
    }
    const auto number = automaton::parse_decimal(value.text);
    if (!number) {
      document_.fail_at(value, ErrorKind::kUnsupported, "too large: a number of more than 400 digits");
    }
    return *number;
  }
  void at_least(const Bound& bound) {
    to_.implied |= kInteger | kNumber;
    const int order = to_.low ? compare(bound.value, to_.low->value) : 1;
    if (order > 0 || (order == 0 && bound.exclusive)) {
      to_.low = bound;
    }
  }
  void at_most(const Bound& bound) {
    to_.implied |= kInteger | kNumber;
    const int order = to_.high ? compare(bound.value, to_.high->value) : -1;
    if (order < 0 || (order == 0 && bound.exclusive)) {
      to_.high = bound;
    }
  }
  // Draft 4 writes "exclusiveMinimum": true beside "minimum".
  bool is_exclusive(std::string_view keyword) const {
    const PyJson* flag = schema_.find(keyword);
    return flag != nullptr && flag->kind == PyJson::Kind::kBool && flag->boolean;
  }
  void minimum(const PyJson& value) { at_least({decimal(value), is_exclusive("exclusiveMinimum")}); }
  void maximum(const PyJson& value) { at_most({decimal(value), is_exclusive("exclusiveMaximum")}); }
  void exclusive_minimum(const PyJson& value) {
    if (value.kind != PyJson::Kind::kBool) {
      at_least({decimal(value), true});
    }
  }
  void exclusive_maximum(const PyJson& value) {
    if (value.kind != PyJson::Kind::kBool) {
      at_most({decimal(value), true});
    }
  }
  void multiple_of(const PyJson& value) {
    to_.implied |= kInteger | kNumber;
    to_.multiples.push_back(&value);
  }

  int64_t count(const PyJson& value) const {
    int64_t number = -1;
    const bool is_number = value.kind == PyJson::Kind::kInteger || value.kind == PyJson::Kind::kFloat;
    const auto exact = is_number ? automaton::parse_decimal(value.text) : std::nullopt;
    if (exact && exact->is_integer() && !exact->negative) {
      const std::string digits = exact->whole.empty() ? "0" : exact->whole;
      constexpr int64_t kMost = 1'000'000'000;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      number = parsed.ec == std::errc() ? std::min(number, kMost) : kMost;
    }
    if (number < 0) {
      expected(value, "an integer of at least 0");
    }
    return number;
  }
  static void lower(int64_t& most, int64_t to) { most = most < 0 ? to : std::min(most, to); }

  void min_length(const PyJson& value) {
    to_.implied |= kString;
    to_.min_length = std::max(to_.min_length, count(value));
  }
  void max_length(const PyJson& value) {
    to_.implied |= kString;
    lower(to_.max_length, count(value));
  }
  void pattern(const PyJson& value) {
    if (!value.is_string()) {
      expected(value, "a regular expression");
    }
    to_.implied |= kString;
    to_.patterns.push_back(&value);
  }
  void format(const PyJson& value) {
    if (!value.is_string()) {
      expected(value, "the name of a format");
    }
    static const std::unordered_map<std::string_view, std::pair<const char*, const char*>> numbers{
        {"int32", {"-2147483648", "2147483647"}},
        {"int64", {"-9223372036854775808", "9223372036854775807"}},
        {"uint32", {"0", "4294967295"}},
        {"uint64", {"0", "18446744073709551615"}},
        {"float", {nullptr, nullptr}},
        {"double", {nullptr, nullptr}}};
    if (const auto found = numbers.find(value.text); found != numbers.end()) {
      if (found->second.first != nullptr) {
        at_least({*automaton::parse_decimal(found->second.first), false});
        at_most({*automaton::parse_decimal(found->second.second), false});
      }
      return;
    }
    to_.implied |= kString;
    to_.formats.push_back(&value);
  }

  void object_keyword(const PyJson& value) {
    const bool is_map = &value == schema_.find("properties") || &value == schema_.find("patternProperties");
    if (is_map && !value.is_object()) {
      expected(value, "an object of schemas");
    }
    speak_of_objects();
  }
  void speak_of_objects() {
    to_.implied |= kObject;
    if (to_.objects.empty() || to_.objects.back() != &schema_) {
      to_.objects.push_back(&schema_);
    }
  }
  void required(const PyJson& value) {
    if (value.kind == PyJson::Kind::kBool) {
      return;  // draft 3's, said of the property itself
    }
    if (value.kind != PyJson::Kind::kArray) {
      expected(value, "an array of names");
    }
    speak_of_objects();
    std::unordered_set<std::string_view> known(to_.required.begin(), to_.required.end());
    std::vector<std::string> added;
    for (const PyJson& name : value.items) {
      if (!name.is_string()) {
        expected(name, "a property's name");
      }
      if (known.insert(name.text).second) {
        added.push_back(name.text);
      }
    }
    to_.required.insert(to_.required.end(), added.begin(), added.end());
  }
  void min_properties(const PyJson& value) {
    speak_of_objects();
    to_.min_properties = std::max(to_.min_properties, count(value));
  }
  void max_properties(const PyJson& value) {
    speak_of_objects();
    lower(to_.max_properties, count(value));
  }

  void array_keyword(const PyJson& value) {
    if (&value == schema_.find("prefixItems") && value.kind != PyJson::Kind::kArray) {
      expected(value, "an array of schemas");
    }
    speak_of_arrays();
  }
  void speak_of_arrays() {
    to_.implied |= kArray;
    if (to_.arrays.empty() || to_.arrays.back() != &schema_) {
      to_.arrays.push_back(&schema_);
    }
  }
  void min_items(const PyJson& value) {
    speak_of_arrays();
    to_.min_items = std::max(to_.min_items, count(value));
  }
  void max_items(const PyJson& value) {
    speak_of_arrays();
    lower(to_.max_items, count(value));
  }
  void unique_items(const PyJson& value) {
    const bool matters = value.boolean && !(to_.max_items >= 0 && to_.max_items <= 1);
    if (matters && !context_.is_lenient) {
      document_.fail_at(value, ErrorKind::kUnsupported, "this keyword cannot be honoured");
    }
  }

  Assertions& to_;
  const Document& document_;
  const PyJson& schema_;
  const ReadContext& context_;
  Types own_types_ = kAnyType;
};

}  // namespace

void read_keywords(Assertions& assertions, const Document& document, const PyJson& schema,
                   const ReadContext& context) {
  Reader(assertions, document, schema, context).run();
}

}  // namespace orfebre::schema
