// Encoding takes a number of steps in proportion to its input, on hostile input too. Steps are counted, not
// timed: the text sources are compiled once more so that each basic block calls __sanitizer_cov_trace_pc
// (CMakeLists.txt), and PCRE2 calls back at each item of the split expression that it tries.
#include "text/tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pcre2.h>

#include <cstdint>
#include <functional>
#include <string>

namespace {

uint64_t g_blocks = 0;
uint64_t g_items = 0;

int count_item(pcre2_callout_block*, void*) {
  ++g_items;
  return 0;
}

template <typename F>
F next_definition(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void __sanitizer_cov_trace_pc() {
  ++g_blocks;
}

// In front of PCRE2's own: every expression calls back.
pcre2_code* pcre2_compile(PCRE2_SPTR pattern, PCRE2_SIZE size, uint32_t options, int* error,
                          PCRE2_SIZE* offset, pcre2_compile_context* context) {
  static const auto kCompile = next_definition<decltype(&pcre2_compile)>("pcre2_compile_8");
  return kCompile(pattern, size, options | PCRE2_AUTO_CALLOUT, error, offset, context);
}

int pcre2_match(const pcre2_code* code, PCRE2_SPTR subject, PCRE2_SIZE size, PCRE2_SIZE start,
                uint32_t options, pcre2_match_data* data, pcre2_match_context* context) {
  static const auto kMatch = next_definition<decltype(&pcre2_match)>("pcre2_match_8");
  pcre2_set_callout(context, count_item, nullptr);
  // Compiled to machine code, an expression does not call back for each step back.
  return kMatch(code, subject, size, start, options | PCRE2_NO_JIT, data, context);
}
}

namespace orfebre::text {
namespace {

struct Steps {
  uint64_t blocks, items;
};

Steps steps_of(const std::function<void()>& work) {
  g_blocks = g_items = 0;
  work();
  return {g_blocks, g_items};
}

const Tokenizer& tokenizer() {
  static const Tokenizer kTokenizer =
      Tokenizer::from_file(ORFEBRE_TEST_DATA_DIR "/text/small_tokenizer.json");
  return kTokenizer;
}

std::string repeated(std::string_view part, size_t n_bytes) {
  std::string text;
  while (text.size() < n_bytes) {
    text += part;
  }
  return text;
}

constexpr size_t kBytes = 10'000;
constexpr double kMostBlocksPerByte = 500, kMostItemsPerByte = 30;
constexpr double kMostGrowth = 2.3;  // from n to 2n, of n log n

// The parts that hostile texts repeat, and what stands behind them.
struct Hostile {
  const char* part;
  const char* end;
};
constexpr Hostile kHostile[] = {
    {"a", ""},
    {"andthethe", ""},
    {"ab", ""},
    {"the time ", ""},
    {" ", ""},
    {" ", "x"},
    {"\n", ""},
    {"\n", "x"},
    {" \n", " x"},
    {"\xC2\xA0 ", "x"},
    {"\t", "\n"},
    {"!", ""},
    {"!", "\n\n"},
    {"'", "s"},
    {"'s", ""},
    {"7", ""},
    {"<", ""},
    {"<|im_start|", ""},
    {"<|im_start|>", ""},
    {"\xFF", ""},
    {"\xE2\x82", ""},
    {"\xCC\x81\xCC\xA3\xCC\xB4", ""},           // marks in the wrong order, of no letter
    {"e\xCC\x81", ""},                          // to be composed
    {"\xEA\xB0\x80\xE1\x86\xA8", ""},           // syllables and jamo
    {"\xF0\x9F\x91\xA9\xE2\x80\x8D", ""},       // joined emoji
    {"\xCC\xB8\xF0\x9E\xA3\x90", "e\xCC\x81"},  // marks that the normaliser does not know
};

class LinearSteps : public ::testing::TestWithParam<Hostile> {};

TEST_P(LinearSteps, OfEncoding) {
  const auto encode = [](const std::string& text) { return [&text] { tokenizer().encode(text); }; };
  const std::string once = repeated(GetParam().part, kBytes) + GetParam().end;
  const std::string twice = repeated(GetParam().part, 2 * kBytes) + GetParam().end;
  encode(twice)();  // what is found out only once
  const Steps small = steps_of(encode(once)), large = steps_of(encode(twice));
  EXPECT_GT(small.blocks, kBytes / 8) << "nothing is counted";
  EXPECT_LT(static_cast<double>(large.blocks), kMostGrowth * static_cast<double>(small.blocks));
  EXPECT_LE(static_cast<double>(large.items), kMostGrowth * static_cast<double>(small.items));
  EXPECT_LT(static_cast<double>(small.blocks), kMostBlocksPerByte * kBytes);
  EXPECT_LT(static_cast<double>(small.items), kMostItemsPerByte * kBytes);
}

TEST(StepCounter, CountsTheItemsOfTheExpression) {
  const Steps steps = steps_of([] { tokenizer().encode(repeated("a ", kBytes)); });
  EXPECT_GT(steps.items, kBytes / 2);  // at least one a piece
}

INSTANTIATE_TEST_SUITE_P(Texts, LinearSteps, ::testing::ValuesIn(kHostile));

}  // namespace
}  // namespace orfebre::text
