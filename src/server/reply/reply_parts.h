// What a reply is made of besides its text, whatever the API that formats it.
#pragma once

#include "engine/request.h"

#include <string>
#include <utility>
#include <vector>

namespace orfebre::api {

struct TokenLogprob {
  std::string bytes;  // possibly part of a character
  float logprob = 0;
  std::vector<std::pair<std::string, float>> top;  // descending
};

struct ReplyUsage {
  Usage tokens;
  int reasoning_tokens = 0;
};

}  // namespace orfebre::api
