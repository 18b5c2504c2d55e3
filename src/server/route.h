// What routes have in common: what they are given, and the table that finds them.
#pragma once

#include "base/error.h"
#include "server/api/api_error.h"
#include "server/constraint/answer_policy.h"
#include "server/http/http_server.h"
#include "server/reply/latencies.h"
#include "server/reply/reply_driver.h"
#include "server/server_context.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre {

struct RouteState {
  ServerContext context;
  ReplyDriver& replies;
  std::shared_ptr<Latencies> latencies = std::make_shared<Latencies>();
  std::atomic<bool> ready{false};  // the engine has made a token
  std::function<http::HttpStats()> http_stats = nullptr;
  MaskVocabulary mask_vocabulary{};
};

// One request on its way through a route.
struct RouteCall {
  RouteState& state;
  const http::HttpRequest& request;
  std::string path;                   // without /v1, query and trailing slash
  std::vector<http::Header> headers;  // for every answer to this request
  std::shared_ptr<http::ResponseWriter> writer;
  api::ErrorStyle error_style = api::ErrorStyle::kOpenAi;
  uint64_t cache_namespace = 0;  // Request::cache_namespace: one for each API key

  // Answers with 200 (or `status`) and the call's headers.
  void send(std::string body, int status = 200, std::string content_type = "application/json") const;
};

// Throws Error for what it refuses; the caller turns it into the answer.
using RouteHandler = std::function<void(const RouteCall&)>;

struct RouteMatch {
  const RouteHandler* handler = nullptr;
  std::string path;
  std::string allow;  // the path's methods when the path is known; empty otherwise
  api::ErrorStyle error_style = api::ErrorStyle::kOpenAi;
};

// The handler of a method and path. Every path is also found under /v1 and with a trailing slash; HEAD finds
// GET's handler.
RouteMatch find_route(const http::HttpRequest& request);

// "GET /v1/models" and so on: what GET / lists.
std::vector<std::string> route_names();

// An error's answer, with Retry-After where trying again helps.
http::HttpResponse error_response(const Error& error, api::ErrorStyle style = api::ErrorStyle::kOpenAi);
http::HttpResponse error_response(int status, std::string_view message, std::string_view code,
                                  api::ErrorStyle style = api::ErrorStyle::kOpenAi);
// Answers with that, `headers` added.
void send_error(http::ResponseWriter& writer, const Error& error, api::ErrorStyle style,
                const std::vector<http::Header>& headers);

}  // namespace orfebre
