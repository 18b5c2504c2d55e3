// A JSON schema's text as a tree that knows the way from its root to each node: for references and for
// errors.
#pragma once

#include "base/error.h"
#include "base/python_json.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace orfebre::schema {

// What cannot be honoured, or is no schema at all: with the place, as clients write it
// ("properties.a.items.pattern"). The text begins with it.
class SchemaError : public Error {
 public:
  SchemaError(ErrorKind kind, std::string path, const std::string& fault)
      : Error(kind, path + ": " + fault), path_(std::move(path)), fault_(fault) {}
  const std::string& path() const { return path_; }
  const std::string& fault() const { return fault_; }

 private:
  std::string path_;
  std::string fault_;
};

// Nodes are the PyJson values of the trees added, which must outlive the document and stay where they are.
class Document {
 public:
  static constexpr size_t kMaxNodes = 50'000;

  // Throws SchemaError when all trees together have more than kMaxNodes values.
  void add_root(const PyJson& root, std::string path);

  std::string path(const PyJson& node) const;
  // The node that "#", "#/$defs/a" means, seen from `from`. Throws SchemaError at
  // `from` when it leads nowhere or out of the document.
  const PyJson& resolve(const PyJson& from, std::string_view reference) const;

  [[noreturn]] void fail_at(const PyJson& node, ErrorKind kind, const std::string& fault) const;

 private:
  struct Place {
    const PyJson* parent;  // nullptr: a root
    const std::string* key;
    size_t index;
  };
  void add(const PyJson& node, const Place& place);

  std::unordered_map<const PyJson*, Place> places_;
  std::unordered_map<const PyJson*, std::string> root_paths_;
};

}  // namespace orfebre::schema
