#include "text/encoding/tokenizer_file.h"

#include "base/error.h"
#include "base/printable.h"
#include "text/encoding/pre_tokenizer.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace orfebre::text {
namespace {

namespace dom = simdjson::dom;

constexpr int64_t kMaxId = 1 << 24;

// Where in which file: "tokenizer.json: model.merges[12]".
struct Place {
  std::string_view file;
  std::string path;

  Place at(std::string_view key) const {
    return {file, path.empty() ? std::string(key) : path + "." + std::string(key)};
  }
  Place at(size_t index) const { return {file, path + "[" + std::to_string(index) + "]"}; }
};

[[noreturn]] void refuse(const Place& place, std::string_view expected, std::string_view found) {
  fail(ErrorKind::kBadCheckpoint, "{}: {}: expected {}, found {}", place.file, place.path, expected,
       printable(found));
}

std::string describe(const dom::element& value) {
  switch (value.type()) {
    case dom::element_type::OBJECT: return "an object";
    case dom::element_type::ARRAY: return "an array";
    default: return simdjson::minify(value);
  }
}

std::optional<dom::element> member(const dom::element& object, std::string_view key) {
  dom::element value;
  if (object.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) {
    return std::nullopt;
  }
  return value;
}

dom::element need(const dom::element& object, std::string_view key, const Place& place) {
  const auto value = member(object, key);
  if (!value) {
    refuse(place.at(key), "a value", "none");
  }
  return *value;
}

std::string_view need_string(const dom::element& object, std::string_view key, const Place& place) {
  const dom::element value = need(object, key, place);
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) {
    refuse(place.at(key), "a string", describe(value));
  }
  return text;
}

dom::array need_array(const dom::element& object, std::string_view key, const Place& place) {
  const dom::element value = need(object, key, place);
  dom::array array;
  if (value.get(array) != simdjson::SUCCESS) {
    refuse(place.at(key), "an array", describe(value));
  }
  return array;
}

bool flag(const dom::element& object, std::string_view key, const Place& place) {
  const auto value = member(object, key);
  if (!value) {
    return false;
  }
  bool set = false;
  if (value->get(set) != simdjson::SUCCESS) {
    refuse(place.at(key), "true or false", describe(*value));
  }
  return set;
}

void need_type(const dom::element& object, std::string_view type, const Place& place) {
  const std::string_view found = need_string(object, "type", place);
  if (found != type) {
    refuse(place.at("type"), type, found);
  }
}

int32_t need_id(const dom::element& value, const Place& place) {
  int64_t id = 0;
  if (value.get(id) != simdjson::SUCCESS || id < 0 || id >= kMaxId) {
    refuse(place, "an id from 0 to 16777215", describe(value));
  }
  return static_cast<int32_t>(id);
}

// The byte alphabet of GPT-2: printable Latin-1 stands for itself, the other 68 bytes for U+0100 onwards.
class ByteAlphabet {
 public:
  ByteAlphabet() {
    byte_of_.fill(-1);
    int next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      byte_of_[static_cast<size_t>(printable ? b : next++)] = static_cast<int16_t>(b);
    }
  }

  // The bytes that `text` (well-formed UTF-8) spells, or nothing if it has other characters.
  std::optional<std::string> decode(std::string_view text) const {
    std::string bytes;
    for (size_t i = 0; i < text.size(); ++i) {
      size_t c = static_cast<unsigned char>(text[i]);
      if (c >= 0xE0) {
        return std::nullopt;
      }
      if (c >= 0xC0) {
        c = ((c & 0x1F) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3F);
      }
      if (c >= byte_of_.size() || byte_of_[c] < 0) {
        return std::nullopt;
      }
      bytes += static_cast<char>(byte_of_[c]);
    }
    return bytes;
  }

 private:
  std::array<int16_t, 0x144> byte_of_;
};

class Reader {
 public:
  explicit Reader(std::string_view file) : top_{file, ""} {}

  TokenizerFile read(const dom::element& root) {
    if (!root.is_object()) {
      refuse(top_.at("(root)"), "an object", describe(root));
    }
    check_normalizer(root);
    check_pre_tokenizer(root);
    check_post_processor(root);
    need_type(need(root, "decoder", top_), "ByteLevel", top_.at("decoder"));
    const dom::element model = need(root, "model", top_);
    check_model(model);
    read_added(root);
    read_vocabulary(model);
    read_merges(model);
    return std::move(out_);
  }

 private:
  void check_normalizer(const dom::element& root) const {
    need_type(need(root, "normalizer", top_), "NFC", top_.at("normalizer"));
  }

  void check_pre_tokenizer(const dom::element& root) const {
    const Place place = top_.at("pre_tokenizer");
    const dom::element pre = need(root, "pre_tokenizer", top_);
    need_type(pre, "Sequence", place);
    const dom::array steps = need_array(pre, "pretokenizers", place);
    const Place list = place.at("pretokenizers");
    if (steps.size() != 2) {
      refuse(list, "Split and ByteLevel", std::to_string(steps.size()) + " steps");
    }

    const dom::element split = steps.at(0).value();
    need_type(split, "Split", list.at(0));
    const std::string_view expression =
        need_string(need(split, "pattern", list.at(0)), "Regex", list.at(0).at("pattern"));
    if (expression != kSplitExpression) {
      refuse(list.at(0).at("pattern.Regex"), "the split expression of Qwen3.5 and Qwen3.6", "another one");
    }
    const std::string_view behavior = need_string(split, "behavior", list.at(0));
    if (behavior != "Isolated") {
      refuse(list.at(0).at("behavior"), "Isolated", behavior);
    }
    if (flag(split, "invert", list.at(0))) {
      refuse(list.at(0).at("invert"), "false", "true");
    }

    const dom::element bytes = steps.at(1).value();
    need_type(bytes, "ByteLevel", list.at(1));
    for (const char* key : {"add_prefix_space", "use_regex"}) {
      if (flag(bytes, key, list.at(1))) {
        refuse(list.at(1).at(key), "false", "true");
      }
    }
  }

  // ByteLevel only moves offsets; anything else would add tokens of its own.
  void check_post_processor(const dom::element& root) const {
    const auto post = member(root, "post_processor");
    if (post) {
      need_type(*post, "ByteLevel", top_.at("post_processor"));
    }
  }

  void check_model(const dom::element& model) const {
    const Place place = top_.at("model");
    need_type(model, "BPE", place);
    for (const char* key : {"ignore_merges", "byte_fallback"}) {
      if (flag(model, key, place)) {
        refuse(place.at(key), "false", "true");
      }
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (member(model, key) && !need_string(model, key, place).empty()) {
        refuse(place.at(key), "none", need_string(model, key, place));
      }
    }
    if (const auto dropout = member(model, "dropout")) {
      refuse(place.at("dropout"), "none", describe(*dropout));
    }
  }

  void claim_id(int32_t id, const Place& place) {
    const auto i = static_cast<size_t>(id);
    if (i >= ids_.size()) {
      ids_.resize(std::max(i + 1, ids_.size() * 2), false);
    }
    if (ids_[i]) {
      refuse(place, "an id of its own", "id " + std::to_string(id) + " given twice");
    }
    ids_[i] = true;
    out_.n_ids = std::max(out_.n_ids, id + 1);
  }

  void read_added(const dom::element& root) {
    if (!member(root, "added_tokens")) {
      return;
    }
    size_t i = 0;
    for (const dom::element entry : need_array(root, "added_tokens", top_)) {
      const Place place = top_.at("added_tokens").at(i++);
      AddedToken token;
      token.id = need_id(need(entry, "id", place), place.at("id"));
      token.text = need_string(entry, "content", place);
      token.special = flag(entry, "special", place);
      token.normalized = flag(entry, "normalized", place);
      if (token.text.empty()) {
        refuse(place.at("content"), "a text", "an empty one");
      }
      for (const char* key : {"lstrip", "rstrip", "single_word"}) {
        if (flag(entry, key, place)) {
          refuse(place.at(key), "false", "true");
        }
      }
      if (!added_ids_.emplace(token.text, token.id).second) {
        refuse(place.at("content"), "a text of its own", "one given twice");
      }
      claim_id(token.id, place.at("id"));
      out_.added.push_back(std::move(token));
    }
  }

  void read_vocabulary(const dom::element& model) {
    const Place place = top_.at("model.vocab");
    dom::object vocab;
    const dom::element value = need(model, "vocab", top_.at("model"));
    if (value.get(vocab) != simdjson::SUCCESS) {
      refuse(place, "an object", describe(value));
    }
    id_of_bytes_.reserve(vocab.size());
    out_.tokens.reserve(vocab.size());
    for (const auto& [text, number] : vocab) {
      const int32_t id = need_id(number, place);
      if (const auto added = added_ids_.find(std::string(text)); added != added_ids_.end()) {
        if (added->second != id) {
          refuse(place, "the added token's id " + std::to_string(added->second), std::to_string(id));
        }
        continue;
      }
      claim_id(id, place);
      auto bytes = alphabet_.decode(text);
      if (!bytes || bytes->empty()) {
        refuse(place, "characters of the byte alphabet", "others in id " + std::to_string(id));
      }
      if (!id_of_bytes_.emplace(*bytes, id).second) {
        refuse(place, "a text of its own", "id " + std::to_string(id) + " with that of another");
      }
      out_.tokens.push_back({id, *std::move(bytes)});
    }
    for (int b = 0; b < 256; ++b) {
      if (!id_of_bytes_.contains(std::string(1, static_cast<char>(b)))) {
        refuse(place, "a token for each of the 256 bytes", "none for byte " + std::to_string(b));
      }
    }
  }

  std::pair<std::string_view, std::string_view> merge_pair(const dom::element& entry,
                                                           const Place& place) const {
    std::string_view text, left, right;
    if (entry.get(text) == simdjson::SUCCESS) {
      const size_t space = text.find(' ');
      if (space == std::string_view::npos) {
        refuse(place, "two tokens with a space between", "no space");
      }
      return {text.substr(0, space), text.substr(space + 1)};
    }
    dom::array parts;
    if (entry.get(parts) != simdjson::SUCCESS || parts.size() != 2 ||
        parts.at(0).get(left) != simdjson::SUCCESS || parts.at(1).get(right) != simdjson::SUCCESS) {
      refuse(place, "two tokens", describe(entry));
    }
    return {left, right};
  }

  int32_t merge_id(const std::string& bytes, const Place& place, std::string_view which) const {
    const auto found = id_of_bytes_.find(bytes);
    if (found != id_of_bytes_.end()) {
      return found->second;
    }
    if (added_ids_.contains(bytes)) {
      refuse(place, "tokens that are not added ones", "an added token");
    }
    refuse(place, "tokens of the vocabulary", std::string("no token for the ") + std::string(which));
  }

  void read_merges(const dom::element& model) {
    const Place list = top_.at("model.merges");
    size_t i = 0;
    for (const dom::element entry : need_array(model, "merges", top_.at("model"))) {
      const Place place{list.file, fmt::format("{}[{}]", list.path, i++)};
      const auto [left_text, right_text] = merge_pair(entry, place);
      const auto left = alphabet_.decode(left_text), right = alphabet_.decode(right_text);
      if (!left || !right) {
        refuse(place, "characters of the byte alphabet", "others");
      }
      out_.merges.push_back({merge_id(*left, place, "left part"), merge_id(*right, place, "right part"),
                             merge_id(*left + *right, place, "result")});
    }
  }

  Place top_;
  ByteAlphabet alphabet_;
  TokenizerFile out_;
  std::vector<bool> ids_;  // given so far
  std::unordered_map<std::string, int32_t> added_ids_;
  std::unordered_map<std::string, int32_t> id_of_bytes_;
};

}  // namespace

TokenizerFile parse_tokenizer_file(std::string_view json, std::string_view where) {
  dom::parser parser;
  dom::element root;
  const auto error = parser.parse(json.data(), json.size()).get(root);
  if (error != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected a tokenizer.json, found text that is not JSON: {}", where,
         simdjson::error_message(error));
  }
  return Reader(where).read(root);
}

}  // namespace orfebre::text
