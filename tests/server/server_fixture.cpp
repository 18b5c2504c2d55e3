#include "server/server_fixture.h"

namespace orfebre::testing {

std::vector<std::string> events(const std::string& body) {
  std::vector<std::string> all;
  size_t at = 0;
  while ((at = body.find("data: ", at)) != std::string::npos) {
    const size_t end = body.find("\n\n", at);
    all.push_back(body.substr(at + 6, end - at - 6));
    at = end;
  }
  return all;
}

Joined join(const std::string& body, int index) {
  Joined joined;
  for (const std::string& event : events(body)) {
    EXPECT_FALSE(joined.done) << "something follows [DONE]";
    if (event == "[DONE]") {
      joined.done = true;
      continue;
    }
    const Json json(event);
    EXPECT_EQ(json.text("/object"), "chat.completion.chunk");
    if (!json.has("/choices/0")) {
      joined.usage = event;
      continue;
    }
    if (json.number("/choices/0/index") != index) {
      continue;
    }
    EXPECT_TRUE(joined.finish_reason.empty()) << "a delta follows the finish reason";
    const std::string delta = "/choices/0/delta";
    if (json.has(delta + "/role")) {
      joined.role += json.text(delta + "/role");
    }
    EXPECT_FALSE(joined.role.empty()) << "the first delta has no role";
    if (json.has(delta + "/reasoning_content")) {
      joined.reasoning += json.text(delta + "/reasoning_content");
      EXPECT_EQ(json.text(delta + "/reasoning"), json.text(delta + "/reasoning_content"));
    }
    if (json.has(delta + "/content")) {
      joined.content += json.text(delta + "/content");
      ++joined.n_content_chunks;
    }
    const std::string call = delta + "/tool_calls/0";
    if (json.has(call)) {
      const auto at = static_cast<size_t>(json.number(call + "/index"));
      if (json.has(call + "/id")) {
        EXPECT_EQ(at, joined.calls.size());
        EXPECT_EQ(json.text(call + "/type"), "function");
        joined.call_ids.push_back(json.text(call + "/id"));
        joined.calls.emplace_back(json.text(call + "/function/name"), "");
      } else {
        EXPECT_FALSE(json.has(call + "/function/name"));
      }
      joined.calls.at(at).second += json.text(call + "/function/arguments");
    }
    if (json.has("/choices/0/finish_reason") && json.text("/choices/0/finish_reason") != "null") {
      joined.finish_reason = json.text("/choices/0/finish_reason");
      joined.finish_cause = json.text("/choices/0/finish_cause");
      joined.thinking_cut = json.has("/choices/0/thinking_cut") ? json.text("/choices/0/thinking_cut") : "";
    }
  }
  return joined;
}

}  // namespace orfebre::testing
