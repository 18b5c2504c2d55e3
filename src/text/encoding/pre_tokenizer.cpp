#include "text/encoding/pre_tokenizer.h"

#include "base/error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <new>
#include <string>

namespace orfebre::text {
namespace {

// Unicode White_Space, spelled out: PCRE2's \s also takes U+180E, which lost that property in Unicode 6.3.
#define ORFEBRE_SPACE \
  R"(\x{9}-\x{d} \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})"
constexpr const char* kPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\p{L}\p{M}\p{N})" ORFEBRE_SPACE
    R"(]+[\r\n]*|[)" ORFEBRE_SPACE R"(]*[\r\n]+|[)" ORFEBRE_SPACE R"(]+(?![^)" ORFEBRE_SPACE
    R"(])|[)" ORFEBRE_SPACE R"(]+)";
#undef ORFEBRE_SPACE

}  // namespace

struct PreTokenizer::Code {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;
};

PreTokenizer::PreTokenizer() : code_(std::make_unique<Code>()) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern), PCRE2_ZERO_TERMINATED,
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  if (code_->code == nullptr) {
    fail(ErrorKind::kInternal, "the split expression does not compile with this PCRE2: error {} at {}", error,
         offset);
  }
  // Without a JIT on this processor matching still works, slower.
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);
  code_->context = pcre2_match_context_create(nullptr);
  if (code_->context == nullptr) {
    throw std::bad_alloc();
  }
  // The interpreter counts every backtrack of a long run of white space; the expression itself is linear.
  pcre2_set_match_limit(code_->context, UINT32_MAX);
}

PreTokenizer::~PreTokenizer() {
  pcre2_match_context_free(code_->context);
  pcre2_code_free(code_->code);
}

PreTokenizer::Matcher::Matcher(const PreTokenizer& owner)
    : owner_(owner), match_data_(pcre2_match_data_create_from_pattern(owner.code_->code, nullptr)) {
  if (match_data_ == nullptr) {
    throw std::bad_alloc();
  }
}

PreTokenizer::Matcher::~Matcher() {
  pcre2_match_data_free(static_cast<pcre2_match_data*>(match_data_));
}

size_t PreTokenizer::Matcher::next_end(std::string_view text, size_t pos) {
  auto* data = static_cast<pcre2_match_data*>(match_data_);
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int n = pcre2_match(owner_.code_->code, subject, text.size(), pos, PCRE2_NO_UTF_CHECK, data,
                      owner_.code_->context);
  if (n == PCRE2_ERROR_JIT_STACKLIMIT) {
    n = pcre2_match(owner_.code_->code, subject, text.size(), pos, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                    owner_.code_->context);
  }
  if (n == PCRE2_ERROR_NOMATCH) {
    return text.size();
  }
  if (n < 0) {
    fail(ErrorKind::kInternal, "PCRE2 error {} while splitting text", n);
  }
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data);
  // Text before a match would be a piece of its own.
  return range[0] > pos ? range[0] : range[1];
}

}  // namespace orfebre::text
