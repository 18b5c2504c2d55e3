// The two forms of a chat completion: a stream of chunks, and one JSON object at the end.
#pragma once

#include "server/reply/reply_session.h"
#include "server/routes/chat/chat_reply.h"

#include <memory>

namespace orfebre {

// Sends the head and the first chunk (the role) at once: the caller has validated and admitted the request.
std::unique_ptr<ReplySink> make_chat_stream(std::shared_ptr<http::ResponseWriter> writer, api::ReplyHead head,
                                            bool include_usage, std::vector<http::Header> headers);

std::unique_ptr<ReplySink> make_chat_whole(std::shared_ptr<http::ResponseWriter> writer, api::ReplyHead head,
                                           bool has_logprobs, std::vector<http::Header> headers);

}  // namespace orfebre
