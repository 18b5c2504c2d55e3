// The API's description, openapi.json beside this file, as it is served.
#pragma once

#include <string_view>

namespace orfebre {

std::string_view openapi_document();

}  // namespace orfebre
