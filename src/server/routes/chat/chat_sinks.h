// The two forms of a chat completion: a stream of chunks, and one JSON object at the end.
#pragma once

#include "server/reply/reply_session.h"
#include "server/routes/chat/chat_reply.h"

#include <memory>
#include <vector>

namespace orfebre {

// One sink a choice; they share the answer. Sends the head and the first chunks (the roles) at once: the
// caller has validated and admitted the request.
std::vector<std::unique_ptr<ReplySink>> make_chat_stream(std::shared_ptr<http::ResponseWriter> writer,
                                                         api::ReplyHead head, int n_replies,
                                                         bool include_usage,
                                                         std::vector<http::Header> headers);

std::vector<std::unique_ptr<ReplySink>> make_chat_whole(std::shared_ptr<http::ResponseWriter> writer,
                                                        api::ReplyHead head, int n_replies, bool has_logprobs,
                                                        std::vector<http::Header> headers);

}  // namespace orfebre
