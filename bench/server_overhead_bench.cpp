// What the server adds to a token: the CPU time of everything but the model, at full concurrency. The model
// is a script that costs next to nothing; the clients read raw bytes, and their threads' time is taken off.
//
//   cmake --preset release -DORFEBRE_BUILD_BENCH=ON && cmake --build build/release --target
//   bench_server_overhead build/release/bench/bench_server_overhead
#include "base/log.h"
#include "server/scripted_model.h"
#include "server/server.h"
#include "server/test_client.h"

#include <benchmark/benchmark.h>

#include <pthread.h>
#include <ctime>

#include <string>
#include <thread>
#include <vector>

namespace orfebre {
namespace {

constexpr int kReplies = 8;  // at once
constexpr int kTokens = 1500;

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string script() {
  std::string text;
  for (int i = 0; static_cast<int>(text.size()) < kTokens; ++i) {
    text += "word " + std::to_string(i) + " ";
  }
  return text.substr(0, kTokens);
}

// Reads one reply to its end; the CPU seconds of the calling thread for it.
double read_reply(uint16_t port, const std::string& request) {
  clockid_t clock{};
  pthread_getcpuclockid(pthread_self(), &clock);
  const double before = seconds_of(clock);
  testing::TestClient client(port);
  client.send(request);
  std::string tail;
  while (tail.find("[DONE]") == std::string::npos) {
    const std::string more = client.receive_some();
    if (more.empty()) {
      break;
    }
    tail = (tail + more).substr(tail.size() + more.size() > 32 ? tail.size() + more.size() - 32 : 0);
  }
  return seconds_of(clock) - before;
}

// "us_per_token" is CPU time, all threads of the server and the engine together.
void BM_StreamedToken(benchmark::State& state) {
  set_log_level(LogLevel::kQuiet);
  const text::Tokenizer tokenizer = testing::byte_tokenizer();
  Engine engine(
      std::make_unique<testing::ScriptedExecutor>(tokenizer, std::make_shared<testing::ScriptPace>(), 8192),
      {});
  ServerOptions options;
  options.port = 0;
  Server server(options, {.engine = engine,
                          .tokenizer = tokenizer,
                          .model_name = "scripted",
                          .stop_ids = {testing::kEndOfTurn}});
  server.start();
  const std::string fields =
      state.range(0) == 0 ? "" : R"(,"stop":["never","ever"],"thinking_budget":9000,"loop_guard":true)";
  const std::string request =
      testing::post("/v1/chat/completions", R"({"stream":true,"messages":[{"role":"user","content":"say )" +
                                                script() + R"("}])" + fields + "}");
  double server_seconds = 0;
  for (auto _ : state) {
    const double before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    std::vector<double> client_seconds(kReplies);
    std::vector<std::thread> clients;
    for (double& seconds : client_seconds) {
      clients.emplace_back([&] { seconds = read_reply(server.port(), request); });
    }
    double taken_off = 0;
    for (size_t i = 0; i < clients.size(); ++i) {
      clients[i].join();
      taken_off += client_seconds[i];
    }
    server_seconds += seconds_of(CLOCK_PROCESS_CPUTIME_ID) - before - taken_off;
  }
  server.stop();
  engine.shut_down();
  const uint64_t n_tokens = engine.stats().reply_tokens;
  state.counters["us_per_token"] = server_seconds * 1e6 / static_cast<double>(n_tokens);
  state.counters["tokens"] = static_cast<double>(n_tokens);
}
BENCHMARK(BM_StreamedToken)
    ->ArgName("policies")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace orfebre

BENCHMARK_MAIN();
