// The two forms of a reply of Anthropic's API: a stream of named events, and one message at the end.
#pragma once

#include "server/reply/reply_session.h"

#include <memory>
#include <string>
#include <vector>

namespace orfebre {

struct MessageHead {
  std::string id;
  std::string model;
  int prompt_tokens = 0;
};

// Sends the head, message_start and a ping at once.
std::unique_ptr<ReplySink> make_message_stream(std::shared_ptr<http::ResponseWriter> writer,
                                               const MessageHead& head, std::vector<http::Header> headers);

std::unique_ptr<ReplySink> make_message_whole(std::shared_ptr<http::ResponseWriter> writer, MessageHead head,
                                              std::vector<http::Header> headers);

}  // namespace orfebre
