#include "base/python_json.h"

#include "base/error.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <utility>

namespace orfebre {
namespace {

constexpr int kMaxDepth = 256;
constexpr size_t kLinearLookupMembers = 8;

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view where, bool python_constants)
      : text_(text), where_(where), python_constants_(python_constants) {}

  PyJson parse_all() {
    PyJson value = parse_value(0);
    skip_space();
    if (pos_ != text_.size()) {
      bad("the end of the text");
    }
    return value;
  }

 private:
  [[noreturn]] void bad(std::string_view expected) const {
    fail(ErrorKind::kInvalidRequest, "{}: not JSON: expected {} at byte {}, found {}", where_, expected, pos_,
         pos_ < text_.size() ? "something else" : "the end");
  }

  void skip_space() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\n' || text_[pos_] == '\r')) {
      ++pos_;
    }
  }

  bool take(std::string_view word) {
    if (text_.substr(pos_, word.size()) != word) {
      return false;
    }
    pos_ += word.size();
    return true;
  }

  bool take(char c) {
    if (pos_ >= text_.size() || text_[pos_] != c) {
      return false;
    }
    ++pos_;
    return true;
  }

  PyJson parse_value(int depth) {
    if (depth > kMaxDepth) {
      fail(ErrorKind::kInvalidRequest, "{}: JSON nested deeper than {} levels", where_, kMaxDepth);
    }
    skip_space();
    if (pos_ >= text_.size()) {
      bad("a value");
    }
    PyJson value;
    switch (text_[pos_]) {
      case '{': parse_object(value, depth); return value;
      case '[': parse_array(value, depth); return value;
      case '"':
        value.kind = PyJson::Kind::kString;
        value.text = parse_string();
        return value;
      default: return parse_word();
    }
  }

  PyJson parse_word() {
    PyJson value;
    if (take("null")) {
      return value;
    }
    if (take("true")) {
      value.kind = PyJson::Kind::kBool;
      value.boolean = true;
      return value;
    }
    if (take("false")) {
      value.kind = PyJson::Kind::kBool;
      return value;
    }
    const size_t begin = pos_;
    if (python_constants_ && (take("NaN") || take("Infinity") || take("-Infinity"))) {
      value.kind = PyJson::Kind::kFloat;
      value.text = text_.substr(begin, pos_ - begin);
      return value;
    }
    value.kind = parse_number() ? PyJson::Kind::kInteger : PyJson::Kind::kFloat;
    value.text = text_.substr(begin, pos_ - begin);
    return value;
  }

  // Returns whether the number is an integer: it has neither fraction nor exponent.
  bool parse_number() {
    take('-');
    if (!take('0')) {
      digits("a value");
    }
    bool integer = true;
    if (take('.')) {
      integer = false;
      digits("a digit");
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) {
        take('-');
      }
      digits("a digit");
    }
    return integer;
  }

  void digits(std::string_view expected) {
    if (pos_ >= text_.size() || !is_digit(text_[pos_])) {
      bad(expected);
    }
    while (pos_ < text_.size() && is_digit(text_[pos_])) {
      ++pos_;
    }
  }

  void parse_array(PyJson& value, int depth) {
    value.kind = PyJson::Kind::kArray;
    ++pos_;
    skip_space();
    if (take(']')) {
      return;
    }
    for (;;) {
      value.items.push_back(parse_value(depth + 1));
      skip_space();
      if (take(']')) {
        return;
      }
      if (!take(',')) {
        bad("',' or ']'");
      }
    }
  }

  void parse_object(PyJson& value, int depth) {
    value.kind = PyJson::Kind::kObject;
    ++pos_;
    skip_space();
    if (take('}')) {
      return;
    }
    std::unordered_map<std::string, size_t> index;
    for (;;) {
      skip_space();
      if (pos_ >= text_.size() || text_[pos_] != '"') {
        bad("a key");
      }
      std::string key = parse_string();
      skip_space();
      if (!take(':')) {
        bad("':'");
      }
      set_member(value, std::move(key), parse_value(depth + 1), index);
      skip_space();
      if (take('}')) {
        return;
      }
      if (!take(',')) {
        bad("',' or '}'");
      }
    }
  }

  // A Python dict keeps a repeated key in its first place with its last value.
  static void set_member(PyJson& object, std::string key, PyJson value,
                         std::unordered_map<std::string, size_t>& index) {
    auto& members = object.members;
    size_t at = members.size();
    if (members.size() < kLinearLookupMembers) {
      for (size_t i = 0; i < members.size(); ++i) {
        if (members[i].key == key) {
          at = i;
        }
      }
    } else {
      if (index.empty()) {
        for (size_t i = 0; i < members.size(); ++i) {
          index.emplace(members[i].key, i);
        }
      }
      at = index.emplace(key, members.size()).first->second;
    }
    if (at < members.size()) {
      members[at].value = std::move(value);
    } else {
      members.push_back({std::move(key), std::move(value)});
    }
  }

  uint32_t hex4() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++pos_) {
      const char c = pos_ < text_.size() ? text_[pos_] : ' ';
      uint32_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<uint32_t>(c - 'A' + 10);
      } else {
        bad("four hexadecimal digits");
      }
      code = code * 16 + digit;
    }
    return code;
  }

  void parse_unicode_escape(std::string& out) {
    uint32_t code = hex4();
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(pos_, 2) == "\\u") {
      const size_t before = pos_;
      pos_ += 2;
      const uint32_t low = hex4();
      if (low >= 0xDC00 && low < 0xE000) {
        append_utf8(out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
        return;
      }
      pos_ = before;
    }
    if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;
    }
    append_utf8(out, code);
  }

  std::string parse_string() {
    std::string out;
    ++pos_;
    for (;;) {
      const size_t begin = pos_;
      while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\\' &&
             static_cast<unsigned char>(text_[pos_]) >= 0x20) {
        ++pos_;
      }
      out.append(text_, begin, pos_ - begin);
      if (take('"')) {
        return out;
      }
      if (!take('\\')) {
        bad("the end of a string");
      }
      parse_escape(out);
    }
  }

  void parse_escape(std::string& out) {
    const char c = pos_ < text_.size() ? text_[pos_++] : '\0';
    switch (c) {
      case '"':
      case '\\':
      case '/': out += c; return;
      case 'b': out += '\b'; return;
      case 'f': out += '\f'; return;
      case 'n': out += '\n'; return;
      case 'r': out += '\r'; return;
      case 't': out += '\t'; return;
      case 'u': parse_unicode_escape(out); return;
      default: bad("an escape");
    }
  }

  std::string_view text_;
  std::string_view where_;
  bool python_constants_;
  size_t pos_ = 0;
};

// The nearest double of a number that the JSON grammar accepts; infinities and zeros beyond the range.
double to_double(const std::string& text) {
  if (text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "Infinity") {
    return std::numeric_limits<double>::infinity();
  }
  if (text == "-Infinity") {
    return -std::numeric_limits<double>::infinity();
  }
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc()) {
    return value;
  }
  // Out of range: too large if the first digit that counts stands for a power of ten above zero.
  const size_t e = text.find_first_of("eE");
  const std::string_view mantissa = std::string_view(text).substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  const bool negative = text[0] == '-';
  bool large = false;
  if (first != std::string_view::npos) {
    long long power = static_cast<long long>(point) - static_cast<long long>(first);
    if (e != std::string::npos) {
      const bool minus = text[e + 1] == '-';
      const size_t begin = e + 1 + (minus || text[e + 1] == '+');
      long long exponent = 0;
      if (std::from_chars(text.data() + begin, text.data() + text.size(), exponent).ec != std::errc()) {
        exponent = std::numeric_limits<long long>::max() / 4;
      }
      power += minus ? -exponent : exponent;
    }
    large = power > 0;
  }
  const double magnitude = large ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -magnitude : magnitude;
}

std::string json_float(const std::string& text) {
  const double value = to_double(text);
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-Infinity" : "Infinity";
  }
  return python_float_repr(value);
}

enum class Numbers { kPython, kAsWritten };

void append_value(std::string& out, const PyJson& value, Numbers numbers) {
  switch (value.kind) {
    case PyJson::Kind::kNull: out += "null"; return;
    case PyJson::Kind::kBool: out += value.boolean ? "true" : "false"; return;
    case PyJson::Kind::kInteger:
      out += numbers == Numbers::kPython && value.text == "-0" ? "0" : value.text;
      return;
    case PyJson::Kind::kFloat:
      out += numbers == Numbers::kPython ? json_float(value.text) : value.text;
      return;
    case PyJson::Kind::kString: append_json_string(out, value.text); return;
    case PyJson::Kind::kArray:
      out += '[';
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) {
          out += ", ";
        }
        append_value(out, value.items[i], numbers);
      }
      out += ']';
      return;
    case PyJson::Kind::kObject:
      out += '{';
      for (size_t i = 0; i < value.members.size(); ++i) {
        if (i > 0) {
          out += ", ";
        }
        append_json_string(out, value.members[i].key);
        out += ": ";
        append_value(out, value.members[i].value, numbers);
      }
      out += '}';
      return;
  }
}

}  // namespace

const PyJson* PyJson::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) {
      return &value;
    }
  }
  return nullptr;
}

PyJson parse_python_json(std::string_view text, std::string_view where, bool python_constants) {
  return Parser(text, where, python_constants).parse_all();
}

void append_json_string(std::string& out, std::string_view utf8) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : utf8) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[(c >> 4) & 0xF];
          out += kHex[c & 0xF];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

std::string python_json_dumps(const PyJson& value) {
  std::string out;
  append_value(out, value, Numbers::kPython);
  return out;
}

std::string json_dumps_as_written(const PyJson& value) {
  std::string out;
  append_value(out, value, Numbers::kAsWritten);
  return out;
}

std::string python_float_repr(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  std::string out;
  if (text[0] == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) {
    digits += text.substr(2, e - 2);
  }
  int exponent = 0;
  const size_t sign = text[e + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), exponent);

  const int n_digits = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (n_digits > 1) {
      out.append(".").append(digits, 1);
    }
    const int magnitude = std::abs(exponent);
    out += exponent < 0 ? "e-" : "e+";
    if (magnitude < 10) {
      out += '0';
    }
    return out += std::to_string(magnitude);
  }
  if (exponent < 0) {
    return out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  }
  if (n_digits <= exponent + 1) {
    return out.append(digits).append(static_cast<size_t>(exponent + 1 - n_digits), '0').append(".0");
  }
  const size_t whole = static_cast<size_t>(exponent + 1);
  return out.append(digits, 0, whole).append(".").append(digits, whole);
}

}  // namespace orfebre
