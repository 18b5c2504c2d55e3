// The two forms of a response: the events of its life, and one object at the end.
#pragma once

#include "server/reply/reply_session.h"
#include "server/routes/responses/responses_request.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orfebre {

// What the response object repeats of the request and the server.
struct ResponseHead {
  std::string id;
  int64_t created_at = 0;  // seconds since the epoch
  std::string model;
  SamplingParams sampling;
  int max_tokens = 0;
  bool parallel_tool_calls = true;
  bool wants_summary = false;
  std::vector<std::string> tools;  // raw JSON
  api::EchoedFields echoed;
};

// A stream's head, response.created and response.in_progress are sent at once.
std::unique_ptr<ReplySink> make_response_stream(std::shared_ptr<http::ResponseWriter> writer,
                                                ResponseHead head, std::vector<http::Header> headers);

std::unique_ptr<ReplySink> make_response_whole(std::shared_ptr<http::ResponseWriter> writer,
                                               ResponseHead head, std::vector<http::Header> headers);

}  // namespace orfebre
