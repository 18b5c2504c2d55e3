// Who may ask. Without a key only programs on this machine are served, and no web page of a foreign site, be
// it by a name that resolves to this machine (Host), by a cross-site request (Origin) or by one that browsers
// send without asking first (a POST that is not JSON). With a key the key decides. /health is open.
#pragma once

#include "server/api/api_error.h"
#include "server/http/http_types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre {

class AccessRules {
 public:
  // `allowed_origins`: pages that may ask and read the answers, as "https://chat.example.org"; "*" for all.
  AccessRules(std::vector<std::string> api_keys, std::vector<std::string> allowed_hosts,
              std::vector<std::string> allowed_origins = {})
      : api_keys_(std::move(api_keys)),
        allowed_hosts_(std::move(allowed_hosts)),
        allowed_origins_(std::move(allowed_origins)) {}

  // The answer that refuses the request, or nothing. `path` is without /v1 and trailing slash.
  std::optional<http::HttpResponse> check(const http::HttpRequest& request, std::string_view path,
                                          api::ErrorStyle style = api::ErrorStyle::kOpenAi) const;

  // Which of the keys the request carries, counted from 1; 0: none of them.
  uint64_t key_number(const http::HttpRequest& request) const;

  // CORS headers for pages of this machine, of the allowed hosts and of the allowed origins; none for others.
  std::vector<http::Header> cors_headers(const http::HttpRequest& request) const;

 private:
  bool is_own_host(std::string_view host, const http::HttpRequest& request) const;
  bool is_own_origin(std::string_view origin, const http::HttpRequest& request) const;

  std::vector<std::string> api_keys_;
  std::vector<std::string> allowed_hosts_;
  std::vector<std::string> allowed_origins_;
};

// Time depends on the lengths only.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace orfebre
