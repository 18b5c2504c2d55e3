#include "checkpoint/json_file.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/printable.h"

#include <unordered_set>

namespace orfebre {
namespace {

void refuse_repeated_keys(simdjson::dom::element element, const std::string& where) {
  simdjson::dom::array array;
  if (element.get(array) == simdjson::SUCCESS) {
    for (simdjson::dom::element child : array) {
      refuse_repeated_keys(child, where);
    }
    return;
  }
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    return;
  }
  std::unordered_set<std::string_view> seen;
  for (const auto& [key, value] : object) {
    if (!seen.insert(key).second) {
      fail(ErrorKind::kBadCheckpoint, "{}: \"{}\" appears twice in one JSON object; expected every name once",
           where, printable(key));
    }
    refuse_repeated_keys(value, where);
  }
}

}  // namespace

simdjson::dom::object parse_json_object(simdjson::dom::parser& parser, std::string_view text,
                                        const std::string& where) {
  const size_t capacity = text.size() + 64;
  simdjson::dom::element root;
  simdjson::error_code error = parser.allocate(capacity, kMaxJsonDepth);
  if (error == simdjson::SUCCESS) {
    error = parser.parse(text.data(), text.size(), true).get(root);
  }
  if (error != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected JSON of at most {} levels, found: {}", where, kMaxJsonDepth,
         simdjson::error_message(error));
  }
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected a JSON object, found another kind of value", where);
  }
  refuse_repeated_keys(root, where);
  return object;
}

std::string read_small_file(const std::string& path, uint64_t max_bytes) {
  const InputFile file(path);
  if (file.size_bytes() > max_bytes) {
    fail(ErrorKind::kBadCheckpoint, "{}: expected at most {} bytes, found {}", path, max_bytes,
         file.size_bytes());
  }
  std::string text(static_cast<size_t>(file.size_bytes()), '\0');
  file.read(text.data(), 0, text.size());
  return text;
}

}  // namespace orfebre
