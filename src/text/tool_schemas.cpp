#include "text/tool_schemas.h"

#include "base/error.h"
#include "base/python_json.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

namespace orfebre::text {
namespace {

using Types = unsigned;  // a set of TypeBit; none set: any type
enum TypeBit : Types {
  kString = 1,
  kInteger = 2,
  kNumber = 4,
  kBoolean = 8,
  kNull = 16,
  kObject = 32,
  kArray = 64
};

Types type_named(std::string_view name) {
  static constexpr std::pair<std::string_view, Types> kNames[] = {
      {"string", kString}, {"integer", kInteger}, {"number", kNumber}, {"boolean", kBoolean},
      {"null", kNull},     {"object", kObject},   {"array", kArray}};
  for (const auto& [known, type] : kNames) {
    if (known == name) {
      return type;
    }
  }
  return 0;
}

Types type_of(const PyJson& value) {
  switch (value.kind) {
    case PyJson::Kind::kNull: return kNull;
    case PyJson::Kind::kBool: return kBoolean;
    case PyJson::Kind::kInteger: return kInteger;
    case PyJson::Kind::kFloat: return kNumber;
    case PyJson::Kind::kString: return kString;
    case PyJson::Kind::kArray: return kArray;
    case PyJson::Kind::kObject: return kObject;
  }
  return 0;
}

// Reads the parameters' types out of one tool's schema. References may be circular and branch, so the nodes
// that one parameter visits are counted; and many parameters may refer to one large node, so the work is
// counted for the tool as a whole. What goes beyond either is of any type.
class TypeReader {
 public:
  explicit TypeReader(const PyJson& root) : root_(root) {}

  Types parameter_types(const PyJson& schema) {
    nodes_left_ = kMaxNodes;
    return types(schema);
  }

 private:
  static constexpr int kMaxNodes = 200;
  static constexpr std::size_t kMaxWork = 1'000'000;  // members and items looked at

  // Whether there is work left for `n` more members or items.
  bool spend(std::size_t n) {
    work_left_ -= std::min(work_left_, n + 1);
    return work_left_ > 0;
  }

  Types types(const PyJson& schema) {
    if (--nodes_left_ < 0 || !schema.is_object() || !spend(schema.members.size())) {
      return 0;
    }
    if (const PyJson* reference = schema.find("$ref"); reference != nullptr && reference->is_string()) {
      const PyJson* target = resolve(reference->text);
      return target == nullptr ? 0 : types(*target);
    }
    Types found = named_types(schema);
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
      const PyJson* branches = found == 0 ? schema.find(key) : nullptr;
      if (branches != nullptr) {
        found = branch_types(*branches);
      }
    }
    if (found == 0) {
      found = implied_types(schema);
    }
    const PyJson* nullable = schema.find("nullable");
    return found != 0 && nullable != nullptr && nullable->boolean ? found | kNull : found;
  }

  // "#/$defs/name" from the root of the parameters' schema; nullptr if it leads nowhere.
  const PyJson* resolve(std::string_view reference) {
    if (!reference.starts_with("#/")) {
      return nullptr;
    }
    reference.remove_prefix(2);
    const PyJson* node = &root_;
    while (node != nullptr && !reference.empty()) {
      if (!spend(node->members.size())) {
        return nullptr;
      }
      const std::size_t slash = std::min(reference.find('/'), reference.size());
      node = node->find(reference.substr(0, slash));
      reference.remove_prefix(std::min(slash + 1, reference.size()));
    }
    return node;
  }

  Types named_types(const PyJson& schema) {
    const PyJson* type = schema.find("type");
    if (type == nullptr || !spend(type->items.size())) {
      return 0;
    }
    Types found = type->is_string() ? type_named(type->text) : 0;
    for (const PyJson& item : type->items) {
      found |= type_named(item.text);
    }
    return found;
  }

  Types implied_types(const PyJson& schema) {
    Types found = 0;
    if (const PyJson* values = schema.find("enum"); values != nullptr && spend(values->items.size())) {
      for (const PyJson& value : values->items) {
        found |= type_of(value);
      }
    }
    if (const PyJson* value = schema.find("const"); value != nullptr) {
      found |= type_of(*value);
    }
    if (found == 0 && schema.find("properties") != nullptr) {
      found = kObject;
    }
    if (found == 0 && schema.find("items") != nullptr) {
      found = kArray;
    }
    return found;
  }

  // Everything that a branch allows; any type if one branch allows any.
  Types branch_types(const PyJson& branches) {
    Types all = 0;
    for (const PyJson& branch : branches.items) {
      const Types found = types(branch);
      if (found == 0) {
        return 0;
      }
      all |= found;
    }
    return all;
  }

  const PyJson& root_;
  int nodes_left_ = kMaxNodes;
  std::size_t work_left_ = kMaxWork;
};

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

// "3.0" -> "3", "1e3" -> "1000"; a number with a fraction, or too large to be sure, stays as written.
std::string integer_text(const std::string& written) {
  const std::size_t point = written.find('.');
  if (written.find_first_of("eE") == std::string::npos) {
    const bool whole = written.find_first_not_of('0', point + 1) == std::string::npos;
    return whole ? written.substr(0, point) : written;
  }
  PyJson number;
  number.kind = PyJson::Kind::kFloat;
  number.text = written;
  const std::string plain = python_json_dumps(number);
  return plain.ends_with(".0") ? plain.substr(0, plain.size() - 2) : written;
}

std::optional<PyJson> parsed(std::string_view text) {
  try {
    return parse_python_json(text, "value");
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string convert(Types types, std::string_view value) {
  const std::string_view text = trimmed(value);
  const bool may_be_string = types == 0 || (types & kString) != 0;
  if ((types & kBoolean) != 0) {
    if (equals_ignoring_case(text, "true")) {
      return "true";
    }
    if (equals_ignoring_case(text, "false")) {
      return "false";
    }
  }
  if (text == "None" && !may_be_string) {
    return "null";
  }
  const std::optional<PyJson> json = parsed(text);
  if (!json || (may_be_string && json->is_string())) {
    return json_string(value);
  }
  // Where text is allowed too, only a value of another allowed type is more than text.
  Types allowed = types;
  if ((types & kNumber) != 0) allowed |= kInteger;
  if ((types & kInteger) != 0) allowed |= kNumber;
  if (types != 0 && may_be_string && (type_of(*json) & allowed) == 0) {
    return json_string(value);
  }
  if (json->kind == PyJson::Kind::kFloat && (types & kInteger) != 0 && (types & kNumber) == 0) {
    return integer_text(json->text);
  }
  return json_dumps_as_written(*json);
}

struct Parameter {
  std::string name;
  Types types = 0;
  bool required = false;
};

}  // namespace

struct ToolSchemas::Impl {
  std::map<std::string, std::vector<Parameter>, std::less<>> tools;

  const Parameter* find(std::string_view tool, std::string_view name) const {
    const auto found = tools.find(tool);
    if (found == tools.end()) {
      return nullptr;
    }
    for (const Parameter& parameter : found->second) {
      if (parameter.name == name) {
        return &parameter;
      }
    }
    return nullptr;
  }

  void add(const PyJson& tool) {
    const PyJson* function = tool.find("function");
    if (function == nullptr) function = &tool;
    const PyJson* name = function->find("name");
    if (name == nullptr || !name->is_string() || name->text.empty()) {
      return;
    }
    std::vector<Parameter>& parameters = tools[name->text];
    const PyJson* schema = function->find("parameters");
    const PyJson* properties = schema == nullptr ? nullptr : schema->find("properties");
    if (properties == nullptr) {
      return;
    }
    TypeReader reader(*schema);
    for (const auto& [key, value] : properties->members) {
      parameters.push_back({key, reader.parameter_types(value), false});
    }
    const PyJson* required = schema->find("required");
    if (required == nullptr) {
      return;
    }
    std::unordered_set<std::string_view> names;
    for (const PyJson& item : required->items) {
      names.insert(item.text);
    }
    for (Parameter& parameter : parameters) {
      parameter.required = names.contains(parameter.name);
    }
  }
};

ToolSchemas::ToolSchemas() : impl_(std::make_unique<Impl>()) {}

ToolSchemas::ToolSchemas(std::span<const std::string> tools_json) {
  auto impl = std::make_unique<Impl>();
  for (std::size_t t = 0; t < tools_json.size(); ++t) {
    impl->add(parse_python_json(tools_json[t], fmt::format("tools[{}]", t), true));
  }
  impl_ = std::move(impl);
}

ToolSchemas::~ToolSchemas() = default;
ToolSchemas::ToolSchemas(ToolSchemas&&) noexcept = default;
ToolSchemas& ToolSchemas::operator=(ToolSchemas&&) noexcept = default;

bool ToolSchemas::empty() const {
  return impl_->tools.empty();
}

bool ToolSchemas::knows(std::string_view tool) const {
  return impl_->tools.find(tool) != impl_->tools.end();
}

bool ToolSchemas::is_string(std::string_view tool, std::string_view parameter) const {
  const Parameter* found = impl_->find(tool, parameter);
  return found == nullptr || found->types == kString;
}

std::string ToolSchemas::to_json(std::string_view tool, std::string_view parameter,
                                 std::string_view value) const {
  if (is_string(tool, parameter)) {
    return json_string(value);
  }
  return convert(impl_->find(tool, parameter)->types, value);
}

std::string ToolSchemas::only_missing(std::string_view tool, std::span<const std::string> present) const {
  const auto found = impl_->tools.find(tool);
  if (found == impl_->tools.end()) {
    return {};
  }
  for (const bool required_only : {true, false}) {
    const Parameter* missing = nullptr;
    int n_missing = 0;
    for (const Parameter& parameter : found->second) {
      if (required_only && !parameter.required) {
        continue;
      }
      if (std::find(present.begin(), present.end(), parameter.name) != present.end()) {
        continue;
      }
      missing = &parameter;
      ++n_missing;
    }
    if (n_missing == 1) {
      return missing->name;
    }
    if (n_missing > 1) {
      return {};
    }
  }
  return {};
}

}  // namespace orfebre::text
