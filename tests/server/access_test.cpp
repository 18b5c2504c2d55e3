// Who is let in: keys, hosts, origins, content types.
#include "server/access.h"

#include <gtest/gtest.h>

namespace orfebre {
namespace {

using http::Header;
using http::HttpRequest;

HttpRequest request(std::vector<Header> headers, const std::string& method = "POST") {
  HttpRequest request;
  request.method = method;
  request.target = "/v1/chat/completions";
  request.headers = std::move(headers);
  request.local_address = "192.168.1.7";
  return request;
}

// The status of the refusal; 0 when the request may pass.
int status(const AccessRules& rules, const HttpRequest& request,
           std::string_view path = "/chat/completions") {
  const auto refusal = rules.check(request, path);
  return refusal ? refusal->status : 0;
}

TEST(AccessRules, TellsKeysApart) {
  const AccessRules rules({"first", "second"}, {});
  EXPECT_EQ(rules.key_number(request({{"Authorization", "Bearer first"}})), 1u);
  EXPECT_EQ(rules.key_number(request({{"x-api-key", "second"}})), 2u);
  EXPECT_EQ(rules.key_number(request({{"x-api-key", "third"}})), 0u);
  EXPECT_EQ(rules.key_number(request({})), 0u);
}

TEST(AccessRules, KnowsLocalHosts) {
  const AccessRules rules({}, {"box.lan"});
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:8080", "127.1.2.3", "[::1]",
                           "[::1]:8080", "192.168.1.7:8080", "box.lan", "Box.LAN:80"}) {
    EXPECT_EQ(status(rules, request({{"Host", host}})), 0) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
        "192.168.1.8", "", ":8080", "[::2]", "[", "box.lan.evil.example"}) {
    EXPECT_EQ(status(rules, request({{"Host", host}})), 403) << host;
  }
  EXPECT_EQ(status(rules, request({})), 403);
}

TEST(AccessRules, RefusesForeignPages) {
  const AccessRules rules({}, {});
  for (const char* origin : {"http://localhost:3000", "http://127.0.0.1", "https://[::1]:8080"}) {
    EXPECT_EQ(status(rules, request({{"Host", "localhost"}, {"Origin", origin}})), 0) << origin;
    EXPECT_EQ(rules.cors_headers(request({{"Origin", origin}})).at(0).value, origin);
  }
  for (const char* origin : {"https://evil.example", "null", "", "file://", "http://localhost.evil.example",
                             "chrome-extension://localhost"}) {
    EXPECT_EQ(status(rules, request({{"Host", "localhost"}, {"Origin", origin}})), 403) << origin;
    EXPECT_TRUE(rules.cors_headers(request({{"Origin", origin}})).empty()) << origin;
  }
}

TEST(AccessRules, RefusesPostsThatBrowsersSendUnasked) {
  for (const AccessRules& rules : {AccessRules({}, {}), AccessRules({"k"}, {})}) {
    const auto post = [&](const char* type) {
      return status(rules, request({{"Host", "localhost"}, {"x-api-key", "k"}, {"Content-Type", type}}));
    };
    for (const char* type :
         {"application/json", "Application/JSON; charset=utf-8", "application/problem+json"}) {
      EXPECT_EQ(post(type), 0) << type;
    }
    for (const char* type : {"text/plain", "text/plain;application/json", "application/x-www-form-urlencoded",
                             "multipart/form-data; boundary=x", "", "application/jsonx"}) {
      EXPECT_EQ(post(type), 415) << type;
    }
    EXPECT_EQ(status(rules, request({{"Host", "localhost"}, {"x-api-key", "k"}})), 0);
  }
}

TEST(AccessRules, WantsTheKey) {
  const AccessRules rules({"first key", "second"}, {});
  for (const std::vector<Header>& headers :
       {std::vector<Header>{{"Authorization", "Bearer first key"}},
        {{"authorization", "bearer second"}},
        {{"X-API-Key", "second"}},
        {{"x-api-key", "first key"}, {"Host", "far.example"}, {"Origin", "https://a.b"}}}) {
    EXPECT_EQ(status(rules, request(headers)), 0);
  }
  for (const std::vector<Header>& headers : {std::vector<Header>{},
                                             {{"Authorization", "Bearer "}},
                                             {{"Authorization", "Bearer secon"}},
                                             {{"Authorization", "Bearer second2"}},
                                             {{"Authorization", "second"}},
                                             {{"Authorization", "Basic second"}},
                                             {{"x-api-key", ""}},
                                             {{"x-api-key", "Second"}},
                                             {{"Host", "localhost"}}}) {
    const auto refusal = rules.check(request(headers), "/chat/completions");
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 401);
    EXPECT_NE(refusal->body.find("\"invalid_api_key\""), std::string::npos);
    EXPECT_EQ(refusal->headers.at(0).name, "WWW-Authenticate");
  }
}

TEST(AccessRules, LeavesHealthOpen) {
  EXPECT_EQ(status(AccessRules({"key"}, {}), request({}, "GET"), "/health"), 0);
  EXPECT_EQ(status(AccessRules({"key"}, {}), request({}, "GET"), "/models"), 401);
}

TEST(EqualInConstantTime, Compares) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const auto& [a, b] :
       {std::pair{"", "a"}, {"a", ""}, {"ab", "a"}, {"a", "ab"}, {"aa", "a"}, {"abc", "abd"}}) {
    EXPECT_FALSE(equal_in_constant_time(a, b)) << a << " " << b;
  }
}

}  // namespace
}  // namespace orfebre
