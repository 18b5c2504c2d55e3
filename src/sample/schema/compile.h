// From a JSON schema to the automaton of the JSON texts that it allows. Compiled once a request, off the
// engine thread. What is written, and in which form: compiler.h. What is refused: docs/api.md.
#pragma once

#include "base/python_json.h"
#include "sample/automaton/program.h"
#include "sample/schema/document.h"

#include <memory>
#include <string>

namespace orfebre::schema {

// Throws SchemaError (kInvalidRequest or kUnsupported) whose path begins with `path`. The text may begin with
// up to two line breaks if `leading_breaks`, as models write them behind their thinking.
std::shared_ptr<const automaton::Program> compile_schema(const PyJson& schema, const std::string& path,
                                                         bool leading_breaks = false);

// Any JSON object.
std::shared_ptr<const automaton::Program> compile_any_object(bool leading_breaks = false);

}  // namespace orfebre::schema
