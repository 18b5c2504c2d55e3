#include "server/route.h"

#include "server/api/api_error.h"

namespace orfebre {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;
  bool is_prefix;  // the rest of the path is the handler's
  RouteHandler handler;
};

const std::vector<Route>& routes() {
  static const std::vector<Route> table = {
      {"POST", "/chat/completions", false, handle_chat}, {"GET", "/models", false, handle_models},
      {"GET", "/models/", true, handle_model},           {"GET", "/health", false, handle_health},
      {"GET", "/metrics", false, handle_metrics},        {"GET", "/", false, handle_root},
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
    const bool found = route.is_prefix
                           ? match.path.starts_with(route.path) && match.path.size() > route.path.size()
                           : match.path == route.path;
    if (!found) {
      continue;
    }
    match.allow += route.method;
    match.allow += route.method == "GET" ? ", HEAD, OPTIONS" : ", OPTIONS";
    if (route.method == method) {
      match.handler = &route.handler;
    }
  }
  return match;
}

http::HttpResponse error_response(const Error& error) {
  http::HttpResponse response{api::http_status(error.kind()), "application/json", {}, api::error_body(error)};
  if (error.kind() == ErrorKind::kOverloaded) {
    response.headers.push_back({"Retry-After", "2"});
  }
  if (error.kind() == ErrorKind::kUnauthorized) {
    response.headers.push_back({"WWW-Authenticate", "Bearer"});
  }
  return response;
}

http::HttpResponse error_response(int status, std::string_view message, std::string_view code) {
  http::HttpResponse response{status, "application/json", {}, api::error_body(status, message, code)};
  if (status == 503) {
    response.headers.push_back({"Retry-After", "2"});
  }
  return response;
}

}  // namespace orfebre
