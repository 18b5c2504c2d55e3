// Writes JSON text from left to right, compact. Keeps the order of the calls; does not check that they match.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orfebre::api {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return shut('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return shut(']'); }

  JsonWriter& key(std::string_view name);

  // `text` must be UTF-8.
  JsonWriter& string(std::string_view text);
  // null for an empty one.
  JsonWriter& string_or_null(std::string_view text) { return text.empty() ? null() : string(text); }
  JsonWriter& integer(int64_t value);
  JsonWriter& boolean(bool value);
  // `json` must be one JSON value.
  JsonWriter& raw(std::string_view json);
  // Shortest form that reads back; null for what JSON cannot say.
  JsonWriter& number(double value);
  JsonWriter& number(float value);
  JsonWriter& null();

  std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& shut(char bracket);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace orfebre::api
