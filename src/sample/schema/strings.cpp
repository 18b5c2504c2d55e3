#include "sample/schema/strings.h"

#include "sample/automaton/regex.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace orfebre::schema {
namespace {

using automaton::CharDfa;

// Days that exist: 29 February in leap years only. Years from 1000.
const std::string& date_pattern() {
  static const std::string pattern = [] {
    const std::string year = "[1-9][0-9]{3}";
    const std::string leap_year = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)";
    return "(" + year + "-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)" +
           "|02-(0[1-9]|1[0-9]|2[0-8]))|" + leap_year + "-02-29)";
  }();
  return pattern;
}

const std::string kTime =
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?"
    "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
const std::string kByte = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
// Without the limits of length: they would multiply the states.
const std::string kLabel = "[A-Za-z0-9]+(-+[A-Za-z0-9]+)*";
const std::string kWord = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const std::string kGroup = "[0-9A-Fa-f]{1,4}";

// Full forms only of IPv6, or one "::" among at most seven groups.
std::string ipv6_pattern() {
  std::string pattern = "((" + kGroup + ":){7}" + kGroup;
  for (int before = 0; before <= 6; ++before) {
    for (int after = 0; before + after <= 6; ++after) {
      const std::string head = before == 0 ? "" : fmt::format("{}(:{}){{{}}}", kGroup, kGroup, before - 1);
      const std::string tail = after == 0 ? "" : fmt::format("{}(:{}){{{}}}", kGroup, kGroup, after - 1);
      pattern.append("|").append(head).append("::").append(tail);
    }
  }
  return pattern + ")";
}

// The expressions of the formats that are enforced, without ^ and $.
const std::unordered_map<std::string_view, std::string>& formats() {
  static const std::unordered_map<std::string_view, std::string> map{
      {"date", date_pattern()},
      {"time", kTime},
      {"date-time", date_pattern() + "T" + kTime},
      {"duration",
       "P([0-9]{1,4}W|([0-9]{1,4}Y([0-9]{1,4}M([0-9]{1,4}D)?)?|[0-9]{1,4}M([0-9]{1,4}D)?|[0-9]{1,4}D)"
       "(T([0-9]{1,4}H([0-9]{1,4}M([0-9]{1,4}S)?)?|[0-9]{1,4}M([0-9]{1,4}S)?|[0-9]{1,4}S))?"
       "|T([0-9]{1,4}H([0-9]{1,4}M([0-9]{1,4}S)?)?|[0-9]{1,4}M([0-9]{1,4}S)?|[0-9]{1,4}S))"},
      {"uuid", "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"},
      {"email", kWord + "(\\." + kWord + ")*@" + kLabel + "(\\." + kLabel + ")+"},
      {"hostname", kLabel + "(\\." + kLabel + ")*"},
      {"ipv4", kByte + "(\\." + kByte + "){3}"},
      {"ipv6", ipv6_pattern()},
      {"uri", "[A-Za-z][A-Za-z0-9+.-]{0,20}:([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})+"}};
  return map;
}

// Formats that say something to people and nothing about the text.
bool is_a_note(std::string_view format) {
  static const std::unordered_set<std::string_view> names{"password", "path",   "file-path", "directory-path",
                                                          "text",     "string", "binary",    "multiline"};
  return names.contains(format);
}

// Runs `make`; an error of the automata becomes one of the schema, at `node`.
template <class Make>
CharDfa at(const Document& document, const PyJson& node, Make make) {
  try {
    return make();
  } catch (const Error& error) {
    document.fail_at(node, error.kind(), error.what());
  }
}

}  // namespace

StringLanguage string_language(const Assertions& assertions, const Document& document,
                               const ReadContext& context) {
  StringLanguage language{automaton::any_text(), false, 0, -1, true};
  const auto restrict_to = [&](const PyJson& node, const std::string& pattern) {
    language.texts = at(document, node, [&] {
      CharDfa found = automaton::regex_dfa(pattern);
      return language.is_any_text ? found : intersection(language.texts, found);
    });
    language.is_any_text = false;
  };
  for (const PyJson* pattern : assertions.patterns) {
    try {
      restrict_to(*pattern, pattern->text);
    } catch (const SchemaError&) {
      if (!context.is_lenient) {
        throw;
      }
    }
  }
  for (const PyJson* format : assertions.formats) {
    if (const auto found = formats().find(format->text); found != formats().end()) {
      restrict_to(*format, "^" + found->second + "$");
    } else if (!is_a_note(format->text) && !context.is_lenient) {
      document.fail_at(
          *format, ErrorKind::kUnsupported,
          "this format cannot be honoured; known are date, time, date-time, duration, uuid, email, "
          "hostname, ipv4, ipv6 and uri");
    }
  }
  const bool has_length = assertions.min_length > 0 || assertions.max_length >= 0;
  if (!has_length) {
    return language;
  }
  if (language.is_any_text) {
    language.is_counted = true;
    language.least = static_cast<int32_t>(assertions.min_length);
    language.most = static_cast<int32_t>(assertions.max_length);
    return language;
  }
  const PyJson& node = *(assertions.patterns.empty() ? assertions.formats : assertions.patterns)[0];
  language.texts = at(document, node, [&] {
    return automaton::with_length(language.texts, assertions.min_length, assertions.max_length);
  });
  return language;
}

bool satisfies(const StringLanguage& language, std::string_view text) {
  if (language.is_counted) {
    const auto n = static_cast<int64_t>(automaton::decode_utf8(text).size());
    return n >= language.least && (language.most < 0 || n <= language.most);
  }
  return accepts(language.texts, text);
}

}  // namespace orfebre::schema
