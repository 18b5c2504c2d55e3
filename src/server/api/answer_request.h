// What a chat request demands of the form of its answer: "response_format", "tool_choice" and
// "parallel_tool_calls". Compiled and enforced by server/constraint/.
#pragma once

#include "server/api/request_reader.h"

#include <string>
#include <vector>

namespace orfebre::api {

struct AnswerRequest {
  enum class Format { kText, kJsonObject, kJsonSchema };
  Format format = Format::kText;
  std::string schema_json;  // of kJsonSchema, numbers as they were written
  std::string schema_path;  // its place in the request

  bool tools_in_force = true;  // false: tool_choice "none"
  bool call_required = false;  // the answer must be a call
  bool parallel_calls = true;  // of a call that is required: others may follow
  // Tools of which calls are allowed: empty means all. They are not checked against the request's tools.
  std::vector<std::string> callable;

  bool is_constrained() const { return format != Format::kText || call_required; }
};

// Throws ApiError for forms that nobody knows.
AnswerRequest read_answer_request(const ObjectReader& body);

// Demands the schema that is `holder`'s member "schema", which must be there.
void demand_schema(AnswerRequest& answer, const ObjectReader& holder);

}  // namespace orfebre::api
