#include "server/api/request_reader.h"

#include "server/api/api_error.h"
#include "text/utf8.h"

#include <charconv>
#include <cmath>

namespace orfebre::api {
namespace {

constexpr size_t kMaxValues = 2'000'000;

// An upper bound of the number of JSON values in `body`, from its commas and brackets outside strings: a
// value takes a hundred bytes of memory, and "0," takes two to send.
size_t count_values(std::string_view body) {
  size_t n_values = 1;
  bool in_string = false;
  for (size_t at = 0; at < body.size(); ++at) {
    const char c = body[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      }
      if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == ',' || c == '[' || c == '{') {
      ++n_values;
    }
  }
  return n_values;
}

// The number as a double; infinite when it is too large for one.
double to_double(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) {
    return value;
  }
  const bool is_tiny = text.find("e-") != std::string::npos || text.find("E-") != std::string::npos ||
                       text.starts_with("0.") || text.starts_with("-0.");
  return is_tiny ? 0.0 : text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
}

std::string shortened(const std::string& number) {
  return number.size() <= 24 ? number : number.substr(0, 21) + "...";
}

[[noreturn]] void wrong_kind(std::string_view path, std::string_view expected, const PyJson& found) {
  fail_param(path, "expected {}, found {}", expected, kind_name(found));
}

bool is_number(const PyJson& value) {
  return value.kind == PyJson::Kind::kInteger || value.kind == PyJson::Kind::kFloat;
}

}  // namespace

PyJson parse_body(std::string_view body) {
  if (body.empty()) {
    throw ApiError(ErrorKind::kInvalidRequest, {}, "the request has no body: expected a JSON object");
  }
  if (!text::is_well_formed(body)) {
    throw ApiError(ErrorKind::kInvalidRequest, {}, "the request's body is not well-formed UTF-8");
  }
  if (count_values(body) > kMaxValues) {
    throw ApiError(ErrorKind::kInvalidRequest, {},
                   fmt::format("the request's body has more than {} JSON values", kMaxValues));
  }
  PyJson json = parse_python_json(body, "the request's body");
  if (!json.is_object()) {
    throw ApiError(ErrorKind::kInvalidRequest, {},
                   fmt::format("the request's body: expected a JSON object, found {}", kind_name(json)));
  }
  return json;
}

std::string_view kind_name(const PyJson& value) {
  switch (value.kind) {
    case PyJson::Kind::kNull: return "null";
    case PyJson::Kind::kBool: return "a boolean";
    case PyJson::Kind::kInteger:
    case PyJson::Kind::kFloat: return "a number";
    case PyJson::Kind::kString: return "a string";
    case PyJson::Kind::kArray: return "an array";
    case PyJson::Kind::kObject: return "an object";
  }
  return "something else";
}

ObjectReader read_object(const PyJson& value, std::string path) {
  if (!value.is_object()) {
    wrong_kind(path, "an object", value);
  }
  return {value, std::move(path)};
}

int64_t read_integer(const PyJson& value, std::string_view path, int64_t low, int64_t high) {
  if (!is_number(value)) {
    wrong_kind(path, "an integer", value);
  }
  int64_t number = 0;
  const std::string& text = value.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    const double real = to_double(text);
    if (std::floor(real) != real && std::isfinite(real)) {
      fail_param(path, "expected an integer, found {}", shortened(text));
    }
    if (!(real >= static_cast<double>(low) && real <= static_cast<double>(high)) ||
        std::abs(real) >= 0x1p63) {
      fail_param(path, "expected an integer from {} to {}, found {}", low, high, shortened(text));
    }
    number = static_cast<int64_t>(real);
  }
  if (number < low || number > high) {
    fail_param(path, "expected an integer from {} to {}, found {}", low, high, number);
  }
  return number;
}

double read_number(const PyJson& value, std::string_view path, double low, double high) {
  const std::string expected = fmt::format("a number from {} to {}", low, high);
  if (!is_number(value)) {
    wrong_kind(path, expected, value);
  }
  const double number = to_double(value.text);
  if (!(number >= low && number <= high)) {
    fail_param(path, "expected {}, found {}", expected, shortened(value.text));
  }
  return number;
}

const PyJson* ObjectReader::find(std::string_view name) const {
  const PyJson* member = object_->find(name);
  return member && member->kind != PyJson::Kind::kNull ? member : nullptr;
}

std::string ObjectReader::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::optional<bool> ObjectReader::boolean(std::string_view name) const {
  const PyJson* value = find(name);
  if (!value) {
    return std::nullopt;
  }
  if (value->kind != PyJson::Kind::kBool) {
    wrong_kind(path_of(name), "true or false", *value);
  }
  return value->boolean;
}

std::optional<std::string> ObjectReader::string(std::string_view name) const {
  const PyJson* value = find(name);
  if (!value) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    wrong_kind(path_of(name), "a string", *value);
  }
  return value->text;
}

std::optional<int64_t> ObjectReader::integer(std::string_view name, int64_t low, int64_t high) const {
  const PyJson* value = find(name);
  return value ? std::optional(read_integer(*value, path_of(name), low, high)) : std::nullopt;
}

std::optional<double> ObjectReader::number(std::string_view name, double low, double high) const {
  const PyJson* value = find(name);
  if (!value) {
    return std::nullopt;
  }
  return read_number(*value, path_of(name), low, high);
}

const PyJson* ObjectReader::array(std::string_view name) const {
  const PyJson* value = find(name);
  if (value && value->kind != PyJson::Kind::kArray) {
    wrong_kind(path_of(name), "an array", *value);
  }
  return value;
}

std::optional<ObjectReader> ObjectReader::object(std::string_view name) const {
  const PyJson* value = find(name);
  if (!value) {
    return std::nullopt;
  }
  return read_object(*value, path_of(name));
}

}  // namespace orfebre::api
