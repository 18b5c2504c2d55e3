// JSON schemas and regular expressions in them: refused with an error that blames the schema, or compiled to
// a grammar that can always go on to an end, and whose texts are JSON.
//
// Input: a schema; then perhaps byte FF and bytes that choose a way through the grammar.
#include "base/python_json.h"
#include "sample/mask/matcher.h"
#include "sample/schema/compile.h"
#include "support/refusal.h"

#include <algorithm>
#include <cstdint>

namespace orfebre::fuzz {
namespace {

std::shared_ptr<const mask::Vocabulary> byte_vocabulary() {
  static char bytes[256];
  std::vector<std::string_view> tokens;
  for (int b = 0; b < 256; ++b) {
    bytes[b] = static_cast<char>(b);
    tokens.emplace_back(&bytes[b], 1);
  }
  return std::make_shared<mask::Vocabulary>(tokens);
}

// Follows the masks; what they allow must be what the grammar takes.
void walk(const std::shared_ptr<const automaton::Program>& program, std::string_view choices) {
  static const auto vocabulary = byte_vocabulary();
  mask::Matcher matcher(program, vocabulary);
  std::string text;
  for (const char choice : choices.substr(0, 64)) {
    std::vector<uint32_t> words(8, 0);
    matcher.fill_mask(words);
    std::string allowed;
    for (int b = 0; b < 256; ++b) {
      const auto c = static_cast<char>(b);
      const bool bit = (words[static_cast<size_t>(b) / 32] >> (b % 32) & 1) != 0;
      // Every eighth byte, others at the next place: asking for all is most of the work.
      const bool is_asked = b % 8 == static_cast<int>(text.size() % 8);
      ORFEBRE_CHECK(!is_asked || bit == matcher.takes(std::string_view(&c, 1)));
      if (bit) {
        allowed += c;
      }
    }
    ORFEBRE_CHECK(allowed.empty() == matcher.at_end());
    if (allowed.empty()) {
      break;
    }
    const char next = allowed[static_cast<unsigned char>(choice) % allowed.size()];
    ORFEBRE_CHECK(matcher.advance(std::string_view(&next, 1)));
    text += next;
  }
  if (matcher.accepts()) {
    parse_python_json(text, "the grammar's text");
  }
}

}  // namespace
}  // namespace orfebre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orfebre;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t border = std::min(input.find('\xff'), input.size());
  schema::AnswerForm form;
  try {
    form.schema = parse_python_json(input.substr(0, border), "schema");
  } catch (const Error&) {
    return 0;
  }
  form.schema_path = "schema";
  std::shared_ptr<const automaton::Program> program;
  try {
    program = schema::compile_answer(form);
  } catch (const schema::SchemaError& error) {
    fuzz::check_quotes_nothing(error, {ErrorKind::kInvalidRequest, ErrorKind::kUnsupported});
    ORFEBRE_CHECK(error.path().starts_with("schema"));
    return 0;
  }
  fuzz::walk(program, input.substr(std::min(border + 1, input.size())));
  return 0;
}
