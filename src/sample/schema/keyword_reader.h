// Reads the keywords of one schema into Assertions: everything but the keywords that combine schemas.
#pragma once

#include "sample/schema/assertions.h"

namespace orfebre::schema {

// `schema` is an object. Throws SchemaError as alternatives() does.
void read_keywords(Assertions& assertions, const Document& document, const PyJson& schema,
                   const ReadContext& context);

}  // namespace orfebre::schema
