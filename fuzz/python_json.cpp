// Python's JSON: what is accepted prints as a text that means the same and prints the same again; and
// simdjson, which shares no code with it, accepts the same texts and finds the same values in them.
//
// Input: a byte of flags, then the text.
#include "base/python_json.h"

#include "support/byte_source.h"
#include "support/refusal.h"
#include "text/utf8.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace orfebre::fuzz {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kOurDepth = 256;

std::optional<PyJson> parsed(std::string_view text, bool python_constants) {
  try {
    return parse_python_json(text, "text", python_constants);
  } catch (const Error& error) {
    check_quotes_nothing(error, {ErrorKind::kInvalidRequest});
    return std::nullopt;
  }
}

bool same(const PyJson& a, const PyJson& b) {
  const auto same_member = [](const PyJsonMember& x, const PyJsonMember& y) {
    return x.key == y.key && same(x.value, y.value);
  };
  return a.kind == b.kind && a.boolean == b.boolean && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same) &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(), same_member);
}

// A printed text reads back as the same values, and printing has nothing left to change.
void check_fixpoints(const PyJson& value, bool python_constants) {
  const std::string written = json_dumps_as_written(value);
  const auto reread = parsed(written, python_constants);
  ORFEBRE_CHECK(reread && same(*reread, value));
  ORFEBRE_CHECK(json_dumps_as_written(*reread) == written);
  const std::string printed = python_json_dumps(value);
  const auto as_python = parsed(printed, true);  // 1e999 prints as Infinity
  ORFEBRE_CHECK(as_python.has_value());
  ORFEBRE_CHECK(python_json_dumps(*as_python) == printed);
}

void check_number(const PyJson& ours, dom::element theirs) {
  const double expected = theirs.get_double().value();
  ORFEBRE_CHECK(std::strtod(ours.text.c_str(), nullptr) == expected);
  if (ours.kind == PyJson::Kind::kFloat) {
    ORFEBRE_CHECK(std::strtod(python_json_dumps(ours).c_str(), nullptr) == expected);
  } else {
    ORFEBRE_CHECK(theirs.is_int64() || theirs.is_uint64());
  }
}

void check_values(const PyJson& ours, dom::element theirs) {
  switch (theirs.type()) {
    case dom::element_type::NULL_VALUE: return ORFEBRE_CHECK(ours.kind == PyJson::Kind::kNull);
    case dom::element_type::BOOL:
      return ORFEBRE_CHECK(ours.kind == PyJson::Kind::kBool && ours.boolean == theirs.get_bool().value());
    case dom::element_type::STRING:
      return ORFEBRE_CHECK(ours.is_string() && ours.text == theirs.get_string().value());
    case dom::element_type::ARRAY: {
      const dom::array items = theirs.get_array();
      ORFEBRE_CHECK(ours.kind == PyJson::Kind::kArray && ours.items.size() == items.size());
      auto item = ours.items.begin();
      for (const dom::element value : items) {
        check_values(*item++, value);
      }
      return;
    }
    case dom::element_type::OBJECT: {
      // simdjson keeps repeated keys; the last value counts for us.
      const dom::object members = theirs.get_object();
      ORFEBRE_CHECK(ours.is_object() && ours.members.size() <= members.size());
      for (const PyJsonMember& member : ours.members) {
        std::optional<dom::element> last;
        for (const auto& [key, value] : members) {
          if (key == member.key) {
            last = value;
          }
        }
        ORFEBRE_CHECK(last.has_value());
        check_values(member.value, *last);
      }
      return;
    }
    default:
      ORFEBRE_CHECK(ours.kind == PyJson::Kind::kInteger || ours.kind == PyJson::Kind::kFloat);
      check_number(ours, theirs);
  }
}

// `text` is well-formed UTF-8.
void check_against_simdjson(const std::string& text, const std::optional<PyJson>& ours) {
  if (text.starts_with("\xef\xbb\xbf")) {  // Python refuses a byte order mark; newer simdjson passes over it
    ORFEBRE_CHECK(!ours.has_value());
    return;
  }
  static dom::parser parser;
  ORFEBRE_CHECK(parser.allocate(text.size() + 64, kOurDepth) == simdjson::SUCCESS);
  dom::element theirs;
  const simdjson::error_code error = parser.parse(text).get(theirs);
  if (error == simdjson::SUCCESS) {
    ORFEBRE_CHECK(ours.has_value());
    check_values(*ours, theirs);
  } else if (ours) {
    // Ours reads more: numbers of any size, escapes of lone surrogates. Never what has another fault.
    const bool is_no_json = error == simdjson::TAPE_ERROR || error == simdjson::UNCLOSED_STRING ||
                            error == simdjson::UNESCAPED_CHARS || error == simdjson::EMPTY ||
                            error == simdjson::T_ATOM_ERROR || error == simdjson::F_ATOM_ERROR ||
                            error == simdjson::N_ATOM_ERROR;
    ORFEBRE_CHECK(!is_no_json);
  }
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  fuzz::ByteSource in(data, size);
  const bool python_constants = in.flag();
  const std::string text = text::replace_ill_formed(in.take_rest());
  const auto value = fuzz::parsed(text, python_constants);
  if (value) {
    fuzz::check_fixpoints(*value, python_constants);
  }
  if (!python_constants) {
    fuzz::check_against_simdjson(text, value);
  }
  return 0;
}
