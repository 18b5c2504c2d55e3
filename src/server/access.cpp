#include "server/access.h"

#include "server/route.h"

#include <algorithm>

namespace orfebre {
namespace {

// The name in "name:port", "[address]:port" or either without a port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_loopback_name(std::string_view name) {
  if (http::equal_ignoring_case(name, "localhost") || name == "::1") {
    return true;
  }
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_json_type(std::string_view type) {
  const std::string_view essence = type.substr(0, type.find_first_of("; \t"));
  constexpr std::string_view kSuffix = "+json";
  return http::equal_ignoring_case(essence, "application/json") ||
         (essence.size() > kSuffix.size() &&
          http::equal_ignoring_case(essence.substr(essence.size() - kSuffix.size()), kSuffix));
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (b.empty()) {
    return a.empty();
  }
  size_t difference = a.size() ^ b.size();
  for (size_t at = 0; at < a.size(); ++at) {
    difference |= static_cast<unsigned char>(a[at]) ^ static_cast<unsigned char>(b[at % b.size()]);
  }
  return difference == 0;
}

std::optional<http::HttpResponse> AccessRules::check(const http::HttpRequest& request, std::string_view path,
                                                     api::ErrorStyle style) const {
  if (path == "/health") {
    return std::nullopt;
  }
  if (!api_keys_.empty()) {
    if (request.method != "OPTIONS" && key_number(request) == 0) {
      return error_response(Error(ErrorKind::kUnauthorized,
                                  "wrong or missing API key: send it as \"Authorization: Bearer KEY\" or "
                                  "\"x-api-key: KEY\""),
                            style);
    }
  } else {
    if (!is_own_host(request.header("Host"), request)) {
      return error_response(403,
                            "the Host header names another machine: only local names are served "
                            "without a key",
                            "forbidden_host", style);
    }
    if (request.has_header("Origin") && !is_own_origin(request.header("Origin"), request)) {
      return error_response(403, "pages of other sites are not served without a key", "forbidden_origin",
                            style);
    }
  }
  if (request.method == "POST" && request.has_header("Content-Type") &&
      !is_json_type(request.header("Content-Type"))) {
    return error_response(415, "Content-Type: expected application/json", "unsupported_media_type", style);
  }
  return std::nullopt;
}

std::vector<http::Header> AccessRules::cors_headers(const http::HttpRequest& request) const {
  const std::string_view origin = request.header("Origin");
  if (origin.empty() || !is_own_origin(origin, request)) {
    return {};
  }
  return {{"Access-Control-Allow-Origin", std::string(origin)}, {"Vary", "Origin"}};
}

uint64_t AccessRules::key_number(const http::HttpRequest& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view given = request.header("x-api-key");
  const std::string_view authorization = request.header("Authorization");
  if (authorization.size() > kBearer.size() &&
      http::equal_ignoring_case(authorization.substr(0, kBearer.size()), kBearer)) {
    given = authorization.substr(kBearer.size());
  }
  uint64_t number = 0;
  for (size_t i = 0; i < api_keys_.size(); ++i) {
    number = equal_in_constant_time(given, api_keys_[i]) ? i + 1 : number;
  }
  return number;
}

bool AccessRules::is_own_host(std::string_view host, const http::HttpRequest& request) const {
  const std::string_view name = without_port(host);
  if (name.empty()) {
    return false;
  }
  return is_loopback_name(name) || name == request.local_address ||
         std::any_of(allowed_hosts_.begin(), allowed_hosts_.end(),
                     [&](const std::string& allowed) { return http::equal_ignoring_case(name, allowed); });
}

bool AccessRules::is_own_origin(std::string_view origin, const http::HttpRequest& request) const {
  const bool is_listed =
      std::any_of(allowed_origins_.begin(), allowed_origins_.end(), [&](const std::string& allowed) {
        return allowed == "*" || http::equal_ignoring_case(origin, allowed);
      });
  if (is_listed) {
    return true;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) {
      return is_own_host(origin.substr(scheme.size()), request);
    }
  }
  return false;
}

}  // namespace orfebre
