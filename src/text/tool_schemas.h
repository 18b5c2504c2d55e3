// The types of tool parameters, from their JSON schemas, and the conversion of parameter text to JSON.
// Does not know the markup of calls (reply_parser.h) nor check values against schemas.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace orfebre::text {

// What the parser needs of the request's tools: the types of their parameters. Immutable, shareable.
class ToolSchemas {
 public:
  ToolSchemas();
  // Raw JSON texts, {"type":"function","function":{"name":..,"parameters":{..}}} or the inner object alone.
  // Throws Error (kInvalidRequest) for text that is not JSON; tools of other kinds are ignored.
  explicit ToolSchemas(std::span<const std::string> tools_json);
  ~ToolSchemas();
  ToolSchemas(ToolSchemas&&) noexcept;
  ToolSchemas& operator=(ToolSchemas&&) noexcept;

  bool empty() const;
  bool knows(std::string_view tool) const;
  // Whether the parameter's value is a string whatever it looks like. Undeclared parameters are strings.
  bool is_string(std::string_view tool, std::string_view parameter) const;
  // The value as JSON text, by the parameter's declared type; text that does not fit becomes a JSON string.
  std::string to_json(std::string_view tool, std::string_view parameter, std::string_view value) const;
  // The parameter that a tag without a name must mean, given those already set; empty if there is a choice.
  std::string only_missing(std::string_view tool, std::span<const std::string> present) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace orfebre::text
