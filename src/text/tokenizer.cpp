#include "text/tokenizer.h"

#include "base/error.h"
#include "base/input_file.h"
#include "text/encoding/added_tokens.h"
#include "text/encoding/bpe.h"
#include "text/encoding/normalizer.h"
#include "text/encoding/pre_tokenizer.h"
#include "text/encoding/tokenizer_file.h"
#include "text/utf8.h"

#include <unordered_map>
#include <utility>

namespace orfebre::text {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;  // the real one has 20 MB

// Bytes [begin, end) of the text in which control tokens are enabled.
struct ControlRange {
  size_t begin, end;
};

enum TokenFlag : uint8_t { kExists = 1, kAdded = 2, kSpecial = 4 };

}  // namespace

struct Tokenizer::Impl {
  explicit Impl(const TokenizerFile& file)
      : raw_finder(file.added, false),
        normalized_finder(file.added, true),
        offsets(static_cast<size_t>(file.n_ids) + 1, 0),
        flags(static_cast<size_t>(file.n_ids), 0),
        bpe(file.tokens, file.n_ids, file.merges) {
    index_tokens(file);
  }

  void encode(std::string_view text, std::span<const ControlRange> control, std::vector<TokenId>& out) const;

  AddedTokenFinder raw_finder;
  AddedTokenFinder normalized_finder;
  std::string blob;               // the bytes of all tokens, by id
  std::vector<uint32_t> offsets;  // [n_ids + 1] into blob
  std::vector<uint8_t> flags;     // [n_ids] TokenFlag
  std::unordered_map<std::string, TokenId> added_ids;
  PreTokenizer pre_tokenizer;
  Bpe bpe;

 private:
  void index_tokens(const TokenizerFile& file);
  void encode_gap(std::string_view text, bool is_control, std::vector<TokenId>& out) const;
  void encode_pieces(std::string_view text, std::vector<TokenId>& out) const {
    pre_tokenizer.split(text, [&](std::string_view piece) { bpe.merge_piece(piece, out); });
  }
};

void Tokenizer::Impl::index_tokens(const TokenizerFile& file) {
  std::vector<std::string_view> texts(flags.size());
  for (const Bpe::Token& token : file.tokens) {
    texts[static_cast<size_t>(token.id)] = token.bytes;
    flags[static_cast<size_t>(token.id)] = kExists;
  }
  for (const AddedToken& token : file.added) {
    texts[static_cast<size_t>(token.id)] = token.text;
    flags[static_cast<size_t>(token.id)] =
        static_cast<uint8_t>(kExists | kAdded | (token.special ? kSpecial : 0));
    added_ids.emplace(token.text, token.id);
  }
  for (size_t id = 0; id < texts.size(); ++id) {
    blob += texts[id];
    offsets[id + 1] = static_cast<uint32_t>(blob.size());
  }
}

// `text` is well-formed; `control` ranges are in order and do not overlap.
void Tokenizer::Impl::encode(std::string_view text, std::span<const ControlRange> control,
                             std::vector<TokenId>& out) const {
  std::vector<AddedTokenFinder::Match> matches;
  for (const ControlRange& r : control) {
    raw_finder.find(text, r.begin, r.end, matches);
  }
  auto range = control.begin();
  const auto within_control = [&](size_t begin, size_t end) {
    while (range != control.end() && range->end < end) {
      ++range;
    }
    return range != control.end() && range->begin <= begin;
  };
  size_t pos = 0;
  const auto encode_until = [&](size_t end) {
    if (pos < end) {
      const bool is_control = !normalized_finder.empty() && within_control(pos, end);
      encode_gap(text.substr(pos, end - pos), is_control, out);
    }
  };
  for (const auto& match : matches) {
    encode_until(match.begin);
    out.push_back(match.id);
    pos = match.end;
  }
  encode_until(text.size());
}

void Tokenizer::Impl::encode_gap(std::string_view text, bool is_control, std::vector<TokenId>& out) const {
  std::string storage;
  if (!is_surely_nfc(text)) {
    storage = to_nfc(text);
    text = storage;
  }
  std::vector<AddedTokenFinder::Match> matches;
  if (is_control) {
    normalized_finder.find(text, 0, text.size(), matches);
  }
  size_t pos = 0;
  for (const auto& match : matches) {
    encode_pieces(text.substr(pos, match.begin - pos), out);
    out.push_back(match.id);
    pos = match.end;
  }
  encode_pieces(text.substr(pos), out);
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::from_file(const std::filesystem::path& path) {
  const InputFile file(path.string());
  if (file.size_bytes() > kMaxFileBytes) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected at most {} bytes, found {}", path.string(), kMaxFileBytes,
         file.size_bytes());
  }
  std::string text(static_cast<size_t>(file.size_bytes()), '\0');
  file.read(text.data(), 0, text.size());
  return from_json(text, path.string());
}

Tokenizer Tokenizer::from_json(std::string_view json, std::string_view where) {
  return Tokenizer(std::make_unique<Impl>(parse_tokenizer_file(json, where)));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  const Segment segment{std::string(text), true};
  return encode(std::span(&segment, 1));
}

std::vector<TokenId> Tokenizer::encode_plain(std::string_view text) const {
  const Segment segment{std::string(text), false};
  return encode(std::span(&segment, 1));
}

std::vector<TokenId> Tokenizer::encode(std::span<const Segment> segments) const {
  std::string text;
  std::vector<ControlRange> control;
  for (const Segment& segment : segments) {
    const size_t begin = text.size();
    text += is_well_formed(segment.text) ? segment.text : replace_ill_formed(segment.text);
    if (segment.is_control) {
      control.push_back({begin, text.size()});
    }
  }
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3);
  impl_->encode(text, control, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  std::string bytes;
  for (const TokenId id : ids) {
    if (!skip_special || !is_special(id)) {
      bytes += token_bytes(id);
    }
  }
  return replace_ill_formed(bytes);
}

std::string_view Tokenizer::token_bytes(TokenId id) const {
  if (id < 0 || id >= vocab_size()) {
    return {};
  }
  const auto i = static_cast<size_t>(id);
  return std::string_view(impl_->blob).substr(impl_->offsets[i], impl_->offsets[i + 1] - impl_->offsets[i]);
}

bool Tokenizer::is_special(TokenId id) const {
  return id >= 0 && id < vocab_size() && (impl_->flags[static_cast<size_t>(id)] & kSpecial) != 0;
}

bool Tokenizer::is_added(TokenId id) const {
  return id >= 0 && id < vocab_size() && (impl_->flags[static_cast<size_t>(id)] & kAdded) != 0;
}

std::optional<TokenId> Tokenizer::id_of(std::string_view token) const {
  if (const auto added = impl_->added_ids.find(std::string(token)); added != impl_->added_ids.end()) {
    return added->second;
  }
  const TokenId id = impl_->bpe.find(token);
  return id == Bpe::kNone ? std::nullopt : std::optional<TokenId>(id);
}

TokenId Tokenizer::vocab_size() const {
  return static_cast<TokenId>(impl_->flags.size());
}

}  // namespace orfebre::text
