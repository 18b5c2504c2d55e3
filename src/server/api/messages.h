// The "messages" of a chat request, in all the forms that clients send them.
#pragma once

#include "server/api/request_reader.h"
#include "text/chat_template.h"

#include <vector>

namespace orfebre::api {

// Roles system, developer, user, assistant, tool and function; content a string, null or parts; tool calls
// whose arguments are a JSON text or an object. Arguments that are no JSON object (a call that a model once
// broke, sent back as history) become {"arguments": TEXT}, so that one bad call does not end a conversation.
// Images and videos are passed on, for the template to refuse. Throws ApiError; an empty list is refused.
std::vector<text::Message> read_messages(const ObjectReader& body);

}  // namespace orfebre::api
