// JSON as Python reads and prints it: key order kept, integers of any size, json.dumps(ensure_ascii=False).
// For text that must have Python's bytes (tool schemas and arguments in a prompt). Replies and settings use
// the JSON libraries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orfebre {

struct PyJsonMember;

struct PyJson {
  enum class Kind { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;                   // kInteger, kFloat: as written; kString: the decoded UTF-8
  std::vector<PyJson> items;          // kArray
  std::vector<PyJsonMember> members;  // kObject; keys unique: the last value in the first place

  // The member, or nullptr when absent or when this is no object.
  const PyJson* find(std::string_view key) const;
  bool is_object() const { return kind == Kind::kObject; }
  bool is_string() const { return kind == Kind::kString; }
};

struct PyJsonMember {
  std::string key;
  PyJson value;
};

// Parses one JSON text. Strict RFC 8259, except that NaN, Infinity and -Infinity are accepted if
// `python_constants` (Python's json.loads). A lone surrogate escape becomes U+FFFD. Nesting over 256 is
// refused. Throws Error (kInvalidRequest) naming `where` and the byte offset, never the text.
PyJson parse_python_json(std::string_view text, std::string_view where, bool python_constants = false);

// json.dumps(value, ensure_ascii=False): ", " and ": ", floats as Python's repr, integers without a sign on
// zero.
std::string python_json_dumps(const PyJson& value);
// The same, but numbers as they were written: always valid JSON.
std::string json_dumps_as_written(const PyJson& value);

// A JSON string literal with Python's escapes for ensure_ascii=False.
void append_json_string(std::string& out, std::string_view utf8);

// repr(float): shortest digits that read back, exponent form below 1e-4 and from 1e16; "inf", "nan".
std::string python_float_repr(double value);

}  // namespace orfebre
