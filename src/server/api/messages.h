// The "messages" of a chat request, in all the forms that clients send them.
#pragma once

#include "server/api/request_reader.h"
#include "text/chat_template.h"

#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

// Roles system, developer, user, assistant, tool and function; content a string, null or parts; tool calls
// whose arguments are a JSON text or an object. Arguments that are no JSON object (a call that a model once
// broke, sent back as history) become {"arguments": TEXT}, so that one bad call does not end a conversation.
// Throws ApiError; an empty list is refused.
std::vector<text::Message> read_messages(const ObjectReader& body);

// What the other APIs' readers share with it.

// In a tool's result, where an agent cannot help it, a text that stands for the image; elsewhere an image is
// passed on, for the template to refuse.
text::ContentPart image_part(std::string_view role);
inline constexpr std::string_view kImagePlaceholder = "[an image, left out: this model reads text only]";

// A tool as OpenAI's chats declare it: {"type":"function","function":{...}}, as JSON text.
std::string function_tool(const std::string& name, const PyJson* description, const PyJson* parameters);

// The arguments of a call in the history, from a JSON text or an object; see above for broken ones.
std::string arguments_text(const PyJson& arguments, std::string_view path);

}  // namespace orfebre::api
