#include "server/route.h"

#include "server/routes/handlers.h"

#include <fmt/format.h>

namespace orfebre {
namespace {

constexpr auto kOpenAi = api::ErrorStyle::kOpenAi;
constexpr auto kAnthropic = api::ErrorStyle::kAnthropic;
constexpr auto kOllama = api::ErrorStyle::kOllama;

struct Route {
  std::string_view method;
  std::string_view path;  // one that ends with '/' is a prefix: the rest is the handler's
  RouteHandler handler;
  api::ErrorStyle error_style = kOpenAi;

  bool is_prefix() const { return path.size() > 1 && path.back() == '/'; }
};

const std::vector<Route>& routes() {
  static const std::vector<Route> table = {
      {"POST", "/chat/completions", handle_chat},
      {"POST", "/completions", handle_completions},
      {"POST", "/responses", handle_responses},
      {"GET", "/responses/", handle_unknown_response},
      {"POST", "/embeddings", handle_embeddings},
      {"POST", "/messages", handle_messages, kAnthropic},
      {"POST", "/messages/count_tokens", handle_count_tokens, kAnthropic},
      {"GET", "/models", handle_models},
      {"GET", "/models/", handle_model},
      {"POST", "/tokenize", handle_tokenize},
      {"POST", "/detokenize", handle_detokenize},
      {"GET", "/props", handle_props},
      {"POST", "/api/chat", handle_ollama_chat, kOllama},
      {"POST", "/api/generate", handle_ollama_generate, kOllama},
      {"GET", "/api/tags", handle_ollama_tags, kOllama},
      {"GET", "/api/ps", handle_ollama_ps, kOllama},
      {"POST", "/api/show", handle_ollama_show, kOllama},
      {"GET", "/api/version", handle_ollama_version, kOllama},
      {"GET", "/api/status", handle_ollama_version, kOllama},
      {"GET", "/health", handle_health},
      {"GET", "/metrics", handle_metrics},
      {"GET", "/openapi.json", handle_openapi},
      {"GET", "/", handle_root},
  };
  return table;
}

std::string normalised(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  if (path == "/v1") {
    return "/";
  }
  if (path.starts_with("/v1/")) {
    path.erase(0, 3);
  }
  return path;
}

}  // namespace

void RouteCall::send(std::string body, int status, std::string content_type) const {
  writer->send({status, std::move(content_type), headers, std::move(body)});
}

RouteMatch find_route(const http::HttpRequest& request) {
  RouteMatch match;
  match.path = normalised(request.path());
  const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : request.method;
  for (const Route& route : routes()) {
    const bool found = route.is_prefix()
                           ? match.path.starts_with(route.path) && match.path.size() > route.path.size()
                           : match.path == route.path;
    if (!found) {
      continue;
    }
    match.error_style = route.error_style;
    match.allow += match.allow.empty() ? "" : ", ";
    match.allow += route.method;
    match.allow += route.method == "GET" ? ", HEAD, OPTIONS" : ", OPTIONS";
    if (route.method == method) {
      match.handler = &route.handler;
    }
  }
  return match;
}

std::vector<std::string> route_names() {
  std::vector<std::string> names;
  for (const Route& route : routes()) {
    const bool is_openai_path = route.error_style != kOllama && route.path != "/" &&
                                route.path != "/health" && route.path != "/metrics" &&
                                route.path != "/openapi.json";
    names.push_back(fmt::format("{} {}{}{}", route.method, is_openai_path ? "/v1" : "", route.path,
                                route.is_prefix() ? "{id}" : ""));
  }
  return names;
}

http::HttpResponse error_response(const Error& error, api::ErrorStyle style) {
  const int status = api::http_status(error.kind());
  http::HttpResponse response{status, "application/json", {}, api::error_body(error, style)};
  if (status == 429 || status == 503) {
    response.headers.push_back({"Retry-After", "2"});
  }
  if (status == 401) {
    response.headers.push_back({"WWW-Authenticate", "Bearer"});
  }
  return response;
}

http::HttpResponse error_response(int status, std::string_view message, std::string_view code,
                                  api::ErrorStyle style) {
  http::HttpResponse response{status, "application/json", {}, api::error_body(status, message, code, style)};
  if (status == 429 || status == 503) {
    response.headers.push_back({"Retry-After", "2"});
  }
  return response;
}

void send_error(http::ResponseWriter& writer, const Error& error, api::ErrorStyle style,
                const std::vector<http::Header>& headers) {
  http::HttpResponse response = error_response(error, style);
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  writer.send(std::move(response));
}

}  // namespace orfebre
