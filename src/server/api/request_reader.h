// Typed reading of a request's JSON: each getter gives nothing for an absent or null member, and otherwise
// the value or an ApiError that names the place, what was expected and what kind of value was found. Texts of
// the request are never quoted.
#pragma once

#include "base/python_json.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orfebre::api {

// The body of a request, which must be a JSON object of at most 2,000,000 values, well-formed UTF-8 and
// nested no deeper than 256. Escapes of lone surrogates become U+FFFD: clients cut texts in the middle of an
// emoji.
PyJson parse_body(std::string_view body);

std::string_view kind_name(const PyJson& value);

// One object of the request and its place in it ("" for the whole body).
class ObjectReader {
 public:
  ObjectReader(const PyJson& object, std::string path) : object_(&object), path_(std::move(path)) {}

  // The member, or nullptr when it is absent or null.
  const PyJson* find(std::string_view name) const;
  std::string path_of(std::string_view name) const;

  std::optional<bool> boolean(std::string_view name) const;
  std::optional<std::string> string(std::string_view name) const;
  // Numbers with a fraction of zero pass as integers.
  std::optional<int64_t> integer(std::string_view name, int64_t low, int64_t high) const;
  std::optional<double> number(std::string_view name, double low, double high) const;
  const PyJson* array(std::string_view name) const;
  std::optional<ObjectReader> object(std::string_view name) const;

  // Calls read(item) for each item of an array of objects, in order; an absent array has none.
  template <typename Read>
  void each_object(std::string_view name, Read&& read) const;

  const PyJson& json() const { return *object_; }

 private:
  const PyJson* object_;
  std::string path_;
};

// `path`'s value as an object.
ObjectReader read_object(const PyJson& value, std::string path);
// `path`'s value as an integer in [low, high]; a fraction of zero passes.
int64_t read_integer(const PyJson& value, std::string_view path, int64_t low, int64_t high);
// `path`'s value as a finite number in [low, high].
double read_number(const PyJson& value, std::string_view path, double low, double high);

template <typename Read>
void ObjectReader::each_object(std::string_view name, Read&& read) const {
  const PyJson* list = array(name);
  for (size_t i = 0; list && i < list->items.size(); ++i) {
    read(read_object(list->items[i], fmt::format("{}[{}]", path_of(name), i)));
  }
}

}  // namespace orfebre::api
