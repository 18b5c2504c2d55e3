// Reads the committed JSON fixtures of tests/data/text.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::text {

inline std::vector<std::string> load_strings(const std::string& path) {
  simdjson::dom::parser parser;
  std::vector<std::string> out;
  const simdjson::dom::array rows = parser.load(path).get_array();
  for (const auto text : rows) {
    out.emplace_back(std::string_view(text.get_string()));
  }
  return out;
}

inline std::vector<std::vector<int32_t>> load_id_lists(const std::string& path) {
  simdjson::dom::parser parser;
  std::vector<std::vector<int32_t>> out;
  const simdjson::dom::array rows = parser.load(path).get_array();
  for (const auto row : rows) {
    auto& ids = out.emplace_back();
    const simdjson::dom::array list = row.get_array();
    for (const auto id : list) {
      ids.push_back(static_cast<int32_t>(id.get_int64()));
    }
  }
  return out;
}

}  // namespace orfebre::text
