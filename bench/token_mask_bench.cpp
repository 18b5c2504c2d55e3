// How long masks take with a real vocabulary: JSON texts are read token by token, as a model would write
// them, and the mask before every token is timed. Each reply starts with a fresh matcher, as each request
// does.
//   bench_token_mask TOKENIZER_JSON [REPEATS]
#include "base/python_json.h"
#include "sample/mask/matcher.h"
#include "sample/schema/compile.h"
#include "text/tokenizer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace orfebre;

// Processor time of this thread: what others do on the machine does not count.
double now_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

struct Case {
  const char* name;
  const char* schema;  // nullptr: any object
  const char* text;
};

const Case kCases[] = {
    {"person", R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,
       "maximum":130},"email":{"type":"string","format":"email"},"tags":{"type":"array","items":{"type":"string",
       "maxLength":20},"maxItems":5},"address":{"type":"object","properties":{"street":{"type":"string"},
       "city":{"type":"string"},"zip":{"type":"string","pattern":"^[0-9]{5}$"}},"required":["street","city","zip"],
       "additionalProperties":false}},"required":["name","age","email","tags","address"],
       "additionalProperties":false})",
     R"({"name": "Maria de la Fuente", "age": 42, "email": "maria@example.org", "tags": ["engineer", "chess player"],
 "address": {"street": "Calle de Alcala 14, 3o B", "city": "Madrid", "zip": "28014"}})"},
    {"list of steps",
     R"({"type":"object","properties":{"steps":{"type":"array","items":{"type":"object","properties":{
       "explanation":{"type":"string"},"output":{"type":"string"}},"required":["explanation","output"],
       "additionalProperties":false}},"final_answer":{"type":"string"}},"required":["steps","final_answer"],
       "additionalProperties":false})",
     R"({
  "steps": [
    {
      "explanation": "Start with the equation 8x + 7 = -23 and subtract 7 from both sides.",
      "output": "8x = -30"
    },
    {
      "explanation": "Divide both sides by 8 to isolate x. \"Isolate\" means to leave it alone.",
      "output": "x = -30 / 8"
    },
    {
      "explanation": "Simplify the fraction: the greatest common divisor of 30 and 8 is 2.",
      "output": "x = -15 / 4"
    }
  ],
  "final_answer": "x = -3.75"
})"},
    {"any object", nullptr,
     R"({"event": {"id": 918273, "title": "Planning of the third quarter", "when": "2026-11-30T09:00:00Z",
 "attendees": [{"name": "Lin", "accepted": true}, {"name": "Jos\u00e9", "accepted": null}], "cost": 1250.75},
 "notes": "Bring the figures of last year, please.\nAnd coffee."})"},
    {"tree",
     R"({"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"string",
       "minLength":1,"maxLength":60},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},
       "required":["value","children"],"additionalProperties":false}}})",
     R"({"value":"root of the tree","children":[{"value":"left branch","children":[{"value":"leaf number one",
"children":[]},{"value":"leaf number two","children":[]}]},{"value":"right branch","children":[{"value":"a leaf with a longer text inside","children":[]}]}]})"},
    {"map of numbers",
     R"({"type":"object","additionalProperties":{"type":"number","minimum":0,"maximum":1}})",
     R"({"positive": 0.7312, "negative": 0.125, "neutral": 0.1438, "very long label with spaces": 1.0})"},
    {"patterns",
     R"({"type":"object","properties":{"slug":{"type":"string","pattern":"^[a-z0-9]+(-[a-z0-9]+)*$"},
       "code":{"type":"string","pattern":"^[A-Z]{2,4}-\\d{3,8}$"},"line":{"type":"string","pattern":"^.{1,60}$"},
       "id":{"type":"string","format":"uuid"},"when":{"type":"string","format":"date-time"}},
       "required":["slug","code","line","id","when"],"additionalProperties":false})",
     R"({"slug": "a-long-name-of-a-page-in-lower-case", "code": "ABX-20481", "line": "A line of text that is checked",
 "id": "0f8fad5b-d9cb-469f-a165-70867728950e", "when": "2026-11-30T18:45:00+01:00"})"},
    {"classification",
     R"({"type":"object","properties":{"label":{"enum":["spam","not spam","phishing","newsletter",
       "unknown"]},"confidence":{"type":"number"},"reason":{"type":"string","maxLength":200}},
       "required":["label","confidence","reason"],"additionalProperties":false})",
     R"({"label": "phishing", "confidence": 0.97, "reason": "The sender asks for a password and links to a domain that is not the bank's."})"},
};

double percentile(std::vector<double> sorted, double part) {
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(part * static_cast<double>(sorted.size())))];
}

void print_times(const char* name, const std::vector<double>& times) {
  std::printf("%-16s %6zu masks  p50 %7.1f us  p90 %7.1f  p99 %7.1f  max %7.1f\n", name, times.size(),
              percentile(times, 0.5), percentile(times, 0.9), percentile(times, 0.99),
              percentile(times, 1.0));
}

// Times of the masks of one reply; ends the program when a token of the text is not allowed.
void read_reply(const Case& reply, const text::Tokenizer& tokenizer,
                const std::shared_ptr<const mask::Vocabulary>& vocabulary, std::vector<double>& times) {
  const auto begin = now_us();
  schema::AnswerForm form;
  form.any_object = reply.schema == nullptr;
  if (reply.schema != nullptr) {
    form.schema = parse_python_json(reply.schema, "schema");
  }
  const auto program = schema::compile_answer(form);
  static bool is_first = true;
  if (std::exchange(is_first, false)) {
    std::printf("first compilation %.0f us\n", (now_us() - begin));
  }
  mask::Matcher matcher(program, vocabulary);
  std::vector<uint32_t> words(vocabulary->mask_words());
  for (const int32_t id : tokenizer.encode_plain(reply.text)) {
    std::fill(words.begin(), words.end(), 0);
    const auto start = now_us();
    matcher.fill_mask(words);
    times.push_back(now_us() - start);
    const bool allowed = (words[static_cast<size_t>(id) / 32] >> (id % 32) & 1) != 0;
    if (!allowed || !matcher.advance(tokenizer.token_bytes(id))) {
      std::printf("%s: token %d is not allowed\n", reply.name, id);
      std::exit(1);
    }
  }
  if (!matcher.at_end()) {
    std::printf("%s: the text does not end the schema\n", reply.name);
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::printf("usage: bench_token_mask TOKENIZER_JSON [REPEATS]\n");
    return 2;
  }
  const text::Tokenizer tokenizer = text::Tokenizer::from_file(argv[1]);
  std::vector<std::string_view> bytes;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    bytes.push_back(tokenizer.is_added(id) ? std::string_view() : tokenizer.token_bytes(id));
  }
  const auto begin = now_us();
  const auto vocabulary = std::make_shared<mask::Vocabulary>(bytes);
  std::printf("%d tokens; trie of %zu nodes, %zu not plain, %zu end a JSON string; made in %.0f ms\n",
              tokenizer.vocab_size(), vocabulary->all().size(), vocabulary->not_plain().size(),
              vocabulary->not_in_json_string().size(), (now_us() - begin) / 1000);
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 20;
  std::vector<double> all;
  for (const Case& reply : kCases) {
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      read_reply(reply, tokenizer, vocabulary, times);
    }
    print_times(reply.name, times);
    all.insert(all.end(), times.begin(), times.end());
  }
  print_times("all", all);
  return 0;
}
