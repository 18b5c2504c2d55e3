#include "server/api/answer_request.h"

#include "server/api/api_error.h"

namespace orfebre::api {
namespace {

// {"type": "json_schema", "json_schema": {"schema": {..}}}; some clients write the schema beside the type.
void read_format(AnswerRequest& answer, const ObjectReader& body) {
  const auto format = body.object("response_format");
  if (!format) {
    return;
  }
  const std::string type = format->string("type").value_or("text");
  if (type == "text") {
    return;
  }
  if (type != "json_object" && type != "json_schema") {
    fail_param("response_format.type", "expected \"text\", \"json_object\" or \"json_schema\"");
  }
  const auto wrapped = format->object("json_schema");
  const ObjectReader& holder = wrapped ? *wrapped : *format;
  const PyJson* schema = holder.find("schema");
  if (schema == nullptr) {
    if (type == "json_schema") {
      fail_param("response_format.json_schema.schema", "expected a schema, found nothing");
    }
    answer.format = AnswerRequest::Format::kJsonObject;
    return;
  }
  answer.format = AnswerRequest::Format::kJsonSchema;
  answer.schema_json = json_dumps_as_written(*schema);
  answer.schema_path = holder.path_of("schema");
}

std::string tool_name(const ObjectReader& choice) {
  const auto function = choice.object("function");
  const ObjectReader& holder = function ? *function : choice;
  std::string name = holder.string("name").value_or("");
  if (name.empty()) {
    fail_param(holder.path_of("name"), "expected a tool's name, found none");
  }
  return name;
}

// {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [..]}}
void read_allowed_tools(AnswerRequest& answer, const ObjectReader& choice) {
  const auto allowed = choice.object("allowed_tools");
  const ObjectReader& holder = allowed ? *allowed : choice;
  answer.call_required = holder.string("mode").value_or("auto") == "required";
  holder.each_object("tools", [&](const ObjectReader& tool) { answer.callable.push_back(tool_name(tool)); });
}

void read_tool_choice(AnswerRequest& answer, const ObjectReader& body) {
  answer.parallel_calls = body.boolean("parallel_tool_calls").value_or(true);
  const PyJson* choice = body.find("tool_choice");
  if (choice == nullptr || (choice->is_string() && choice->text == "auto")) {
    return;
  }
  if (choice->is_string() && choice->text == "none") {
    answer.tools_in_force = false;
  } else if (choice->is_string() && (choice->text == "required" || choice->text == "any")) {
    answer.call_required = true;
  } else if (choice->is_object()) {
    const ObjectReader reader(*choice, "tool_choice");
    if (reader.string("type").value_or("function") == "allowed_tools") {
      read_allowed_tools(answer, reader);
    } else {
      answer.call_required = true;
      answer.callable.push_back(tool_name(reader));
    }
  } else {
    fail_param("tool_choice", "expected \"auto\", \"none\", \"required\" or a tool");
  }
}

}  // namespace

AnswerRequest read_answer_request(const ObjectReader& body) {
  AnswerRequest answer;
  read_format(answer, body);
  read_tool_choice(answer, body);
  return answer;
}

void demand_schema(AnswerRequest& answer, const ObjectReader& holder) {
  const PyJson* schema = holder.find("schema");
  if (schema == nullptr) {
    fail_param(holder.path_of("schema"), "expected a schema, found nothing");
  }
  answer.format = AnswerRequest::Format::kJsonSchema;
  answer.schema_json = json_dumps_as_written(*schema);
  answer.schema_path = holder.path_of("schema");
}

}  // namespace orfebre::api
