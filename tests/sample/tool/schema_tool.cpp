// Asks the schema compiler from outside: for each line of standard input {"schema", "instances": [TEXT...],
// "walks": N, "seed": S, "tokenizer": PATH?} a line {"error": {"path", "fault"}} or {"accepts": [...],
// "walks": [TEXT...]}. Walks are made byte by byte at random from what the masks allow.
#include "base/python_json.h"
#include "sample/mask/matcher.h"
#include "sample/schema/compile.h"

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace {

using namespace orfebre;

std::shared_ptr<const mask::Vocabulary> byte_vocabulary() {
  static char bytes[256];
  std::vector<std::string_view> tokens;
  for (int b = 0; b < 256; ++b) {
    bytes[b] = static_cast<char>(b);
    tokens.emplace_back(&bytes[b], 1);
  }
  return std::make_shared<mask::Vocabulary>(tokens);
}

bool accepts(const std::shared_ptr<const automaton::Program>& program,
             const std::shared_ptr<const mask::Vocabulary>& bytes, const std::string& text) {
  mask::Matcher matcher(program, bytes);
  return matcher.advance(text) && matcher.accepts();
}

// A text of the grammar; empty when the walk does not end in time.
std::string walk(const std::shared_ptr<const automaton::Program>& program,
                 const std::shared_ptr<const mask::Vocabulary>& bytes, std::mt19937_64& random) {
  mask::Matcher matcher(program, bytes);
  std::string text;
  for (int step = 0; step < 20'000; ++step) {
    const bool hurry = step > 600;
    if (matcher.accepts() && (matcher.at_end() || hurry || random() % 3 == 0)) {
      return text;
    }
    std::vector<uint32_t> mask(8, 0);
    matcher.fill_mask(mask);
    std::string allowed, preferred;
    for (int b = 0; b < 256; ++b) {
      if ((mask[static_cast<size_t>(b) / 32] >> (b % 32) & 1) != 0) {
        allowed += static_cast<char>(b);
        if (std::string_view(hurry ? "\"}]" : "\"}],:0e").find(static_cast<char>(b)) !=
            std::string_view::npos) {
          preferred += static_cast<char>(b);
        }
      }
    }
    if (allowed.empty()) {
      std::cerr << "a dead end behind " << text << "\n";
      std::exit(1);
    }
    const std::string& from = !preferred.empty() && random() % 4 < (hurry ? 3u : 1u) ? preferred : allowed;
    const char c = from[random() % from.size()];
    if (!matcher.advance(std::string_view(&c, 1))) {
      std::cerr << "the mask allows a byte that the grammar does not, behind " << text << "\n";
      std::exit(1);
    }
    text += c;
  }
  return {};
}

std::string answer(const PyJson& question, const std::shared_ptr<const mask::Vocabulary>& bytes) {
  std::string out;
  const auto quoted = [&](const std::string& text) { append_json_string(out, text); };
  try {
    schema::AnswerForm form;
    form.schema = *question.find("schema");
    form.schema_path = "schema";
    const auto program = schema::compile_answer(form);
    out = "{\"accepts\":[";
    const char* separator = "";
    for (const PyJson& instance : question.find("instances")->items) {
      out += separator;
      out += accepts(program, bytes, instance.text) ? "true" : "false";
      separator = ",";
    }
    out += "],\"walks\":[";
    separator = "";
    std::mt19937_64 random(std::strtoull(question.find("seed")->text.c_str(), nullptr, 10));
    for (int i = std::atoi(question.find("walks")->text.c_str()); i > 0; --i) {
      const std::string text = walk(program, bytes, random);
      if (!text.empty()) {
        out += separator;
        quoted(text);
        separator = ",";
      }
    }
    out += "]}";
  } catch (const schema::SchemaError& error) {
    out = "{\"error\":{\"path\":";
    quoted(error.path());
    out += ",\"fault\":";
    quoted(error.fault());
    out += ",\"unsupported\":";
    out += error.kind() == ErrorKind::kUnsupported ? "true}}" : "false}}";
  }
  return out;
}

}  // namespace

int main() {
  const auto bytes = byte_vocabulary();
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(parse_python_json(line, "line"), bytes) << std::endl;
  }
}
