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
  for (const auto text : parser.load(path).get_array().value()) {
    out.emplace_back(text.get_string().value());
  }
  return out;
}

inline std::vector<std::vector<std::int32_t>> load_id_lists(const std::string& path) {
  simdjson::dom::parser parser;
  std::vector<std::vector<std::int32_t>> out;
  for (const auto list : parser.load(path).get_array().value()) {
    auto& ids = out.emplace_back();
    for (const auto id : list.get_array().value()) ids.push_back(static_cast<std::int32_t>(id.get_int64().value()));
  }
  return out;
}

}  // namespace orfebre::text
