// The whole server over the real engine and a scripted model, for tests of what goes in by HTTP and what
// comes out.
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "server/scripted_model.h"
#include "server/server.h"
#include "server/test_client.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace orfebre::testing {

namespace dom = simdjson::dom;

inline constexpr int kContext = 2048;

// A JSON document that keeps its parser alive.
struct Json {
  explicit Json(const std::string& text) : padded(text) {
    if (parser.parse(padded).get(root) != simdjson::SUCCESS) {
      ADD_FAILURE() << "not JSON: " << text;
    }
  }
  dom::element at(const std::string& pointer) const {
    dom::element found;
    if (root.at_pointer(pointer).get(found) != simdjson::SUCCESS) {
      ADD_FAILURE() << pointer << " is not in " << simdjson::minify(root);
    }
    return found;
  }
  std::string text(const std::string& pointer) const {
    const dom::element found = at(pointer);
    if (found.is_null()) {
      return "null";
    }
    if (found.is_string()) {
      return std::string(found.get_string().value());
    }
    ADD_FAILURE() << pointer << " is no string";
    return {};
  }
  int64_t number(const std::string& pointer) const { return at(pointer).get_int64().value(); }
  bool has(const std::string& pointer) const { return root.at_pointer(pointer).error() == simdjson::SUCCESS; }

  simdjson::padded_string padded;
  dom::parser parser;
  dom::element root;
};

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    c == '\n' ? void(out += "\\n") : void(out += c);
  }
  return out + "\"";
}

// A chat whose raw reply will be `reply`.
inline std::string chat(const std::string& reply, const std::string& fields = "") {
  return "{" + fields + (fields.empty() ? "" : ",") + R"("messages":[{"role":"user","content":)" +
         quoted("say " + reply) + "}]}";
}

inline const std::string kDirect = R"("enable_thinking":false)";
inline const std::string kTools =
    R"("tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":
       {"city":{"type":"string"},"days":{"type":"integer"}}}}}])";
inline const std::string kCall =
    "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</"
    "parameter>\n"
    "</function>\n</tool_call>";

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kQuiet); }

  void start(ServerOptions options = {}, int context_tokens = kContext) {
    EngineOptions engine_options;
    engine_options.max_waiting = 4;
    engine_ = std::make_unique<Engine>(std::make_unique<ScriptedExecutor>(tokenizer_, pace_, context_tokens),
                                       engine_options);
    options.port = 0;
    server_ = std::make_unique<Server>(options, context());
    server_->start();
    ASSERT_TRUE(eventually([&] { return ask(port(), get("/health")).status == 200; }));
  }

  ServerContext context() {
    return {.engine = *engine_, .tokenizer = tokenizer_, .model_name = "scripted", .stop_ids = {kEndOfTurn}};
  }
  uint16_t port() const { return server_->port(); }
  TestResponse complete(const std::string& body) { return ask(port(), post("/v1/chat/completions", body)); }

  bool is_idle() {
    const EngineStats stats = engine_->stats();
    return stats.running == 0 && stats.waiting == 0;
  }

  text::Tokenizer tokenizer_ = byte_tokenizer();
  std::shared_ptr<ScriptPace> pace_ = std::make_shared<ScriptPace>();
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Server> server_;  // destroyed first
};

// The events of a stream: the data of each, in order.
std::vector<std::string> events(const std::string& body);

// A stream put together again as a client does.
struct Joined {
  std::string role, reasoning, content, finish_reason, finish_cause, thinking_cut;
  std::vector<std::pair<std::string, std::string>> calls;  // name, arguments
  std::vector<std::string> call_ids;
  std::string usage;
  bool done = false;
  int n_content_chunks = 0;
};

// Checks the order of the chunks on the way. Of the choice with that index.
Joined join(const std::string& body, int index = 0);

}  // namespace orfebre::testing
