#include "sample/schema/document.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace orfebre::schema {
namespace {

constexpr size_t kMaxPathBytes = 300;
constexpr size_t kMaxKeyBytes = 60;

// A key as errors show it: ASCII without control characters, cut.
std::string shown(std::string_view key) {
  std::string text(key.substr(0, kMaxKeyBytes));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return key.size() > kMaxKeyBytes ? text + "..." : text;
}

// A segment of a JSON pointer in a URI fragment: %XX, then ~1 and ~0.
std::string unescaped(std::string_view segment) {
  std::string text;
  for (size_t i = 0; i < segment.size(); ++i) {
    unsigned value = 0;
    if (segment[i] == '%' && i + 2 < segment.size() &&
        std::from_chars(segment.data() + i + 1, segment.data() + i + 3, value, 16).ptr ==
            segment.data() + i + 3) {
      text += static_cast<char>(value);
      i += 2;
    } else if (segment[i] == '~' && i + 1 < segment.size() &&
               (segment[i + 1] == '0' || segment[i + 1] == '1')) {
      text += segment[++i] == '0' ? '~' : '/';
    } else {
      text += segment[i];
    }
  }
  return text;
}

}  // namespace

void Document::add_root(const PyJson& root, std::string path) {
  root_paths_.emplace(&root, std::move(path));
  add(root, {nullptr, nullptr, 0});
}

void Document::add(const PyJson& node, const Place& place) {
  places_.emplace(&node, place);
  if (places_.size() > kMaxNodes) {
    const PyJson* root = &node;
    while (places_.at(root).parent != nullptr) {
      root = places_.at(root).parent;
    }
    fail_at(*root, ErrorKind::kUnsupported,
            fmt::format("too large: a schema of more than {} values", kMaxNodes));
  }
  for (const PyJsonMember& member : node.members) {
    add(member.value, {&node, &member.key, 0});
  }
  for (size_t i = 0; i < node.items.size(); ++i) {
    add(node.items[i], {&node, nullptr, i});
  }
}

std::string Document::path(const PyJson& node) const {
  std::vector<std::string> segments;
  const PyJson* at = &node;
  for (const Place* place = &places_.at(at); place->parent != nullptr; place = &places_.at(at)) {
    segments.push_back(place->key != nullptr ? fmt::format(".{}", shown(*place->key))
                                             : fmt::format("[{}]", place->index));
    at = place->parent;
  }
  std::string path = root_paths_.at(at);
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    path += path.empty() && segment->starts_with('.') ? segment->substr(1) : *segment;
  }
  if (path.size() > kMaxPathBytes) {
    path = path.substr(0, kMaxPathBytes / 2) + "..." + path.substr(path.size() - kMaxPathBytes / 2);
  }
  return path;
}

void Document::fail_at(const PyJson& node, ErrorKind kind, const std::string& fault) const {
  throw SchemaError(kind, path(node), fault);
}

const PyJson& Document::resolve(const PyJson& from, std::string_view reference) const {
  const PyJson* root = &from;
  while (places_.at(root).parent != nullptr) {
    root = places_.at(root).parent;
  }
  if (!reference.starts_with('#')) {
    fail_at(from, ErrorKind::kUnsupported, "expected a reference within the schema (#...)");
  }
  const PyJson* node = root;
  for (reference.remove_prefix(1); !reference.empty() && node != nullptr;) {
    if (reference[0] != '/') {
      fail_at(from, ErrorKind::kUnsupported, "expected a reference of the form #/$defs/NAME");
    }
    reference.remove_prefix(1);
    const size_t slash = std::min(reference.find('/'), reference.size());
    const std::string key = unescaped(reference.substr(0, slash));
    reference.remove_prefix(slash);
    size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (node->is_object()) {
      node = node->find(key);
    } else if (error == std::errc() && end == key.data() + key.size() && index < node->items.size()) {
      node = &node->items[index];
    } else {
      node = nullptr;
    }
  }
  if (node == nullptr) {
    fail_at(from, ErrorKind::kInvalidRequest, "the reference leads nowhere");
  }
  return *node;
}

}  // namespace orfebre::schema
