// The HTTP layer alone, over loopback: grammar, limits, deadlines, clients that leave.
#include "server/http/http_server.h"

#include "base/error.h"
#include "server/test_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

namespace orfebre {
namespace {

using http::HttpRequest;
using http::HttpResponse;
using http::ResponseWriter;
using testing::ask;
using testing::eventually;
using testing::get;
using testing::post;
using testing::TestClient;
using testing::TestResponse;

// A server whose routes are chosen by the target: /echo answers with the body, /hold keeps the writer,
// /stream keeps it after the head of a stream, /drop answers nothing.
class HttpServerTest : public ::testing::Test {
 protected:
  void start(http::HttpLimits limits = {}) {
    http::HttpServerOptions options;
    options.limits = limits;
    http::HttpCallbacks callbacks;
    callbacks.gate = [](const HttpRequest& request) -> std::optional<HttpResponse> {
      if (request.target == "/closed") {
        return HttpResponse{403, "text/plain", {}, "closed"};
      }
      if (request.target == "/no-memory") {
        throw std::bad_alloc();
      }
      return std::nullopt;
    };
    callbacks.handle = [this](HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
      handle(std::move(request), std::move(writer));
    };
    callbacks.refuse = [](int status, const std::string& text) {
      return HttpResponse{status, "text/plain", {}, text};
    };
    server_ = std::make_unique<http::HttpServer>(options, callbacks);
    server_->start();
  }

  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
    ++n_handled_;
    if (request.target == "/drop") {
      return;
    }
    if (request.target == "/hold" || request.target == "/stream") {
      writer->on_disconnect([this] { ++n_left_; });
      if (request.target == "/stream") {
        writer->begin_stream({200, "text/plain", {}, {}});
      }
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(writer));
      return;
    }
    writer->send({200, "text/plain", {}, request.method + " " + request.path() + " " + request.body});
  }

  std::shared_ptr<ResponseWriter> wait_for_held() {
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex_);
      return !held_.empty();
    }));
    const std::lock_guard lock(mutex_);
    if (held_.empty()) {
      return nullptr;
    }
    auto writer = std::move(held_.front());
    held_.erase(held_.begin());
    return writer;
  }

  uint16_t port() const { return server_->port(); }

  std::mutex mutex_;
  std::vector<std::shared_ptr<ResponseWriter>> held_;
  std::atomic<int> n_left_{0};
  std::atomic<int> n_handled_{0};
  std::unique_ptr<http::HttpServer> server_;  // destroyed first: its threads use the rest
};

TEST_F(HttpServerTest, AnswersRequestsOnOneConnection) {
  start();
  TestClient client(port());
  for (const char* word : {"one", "two", "three"}) {
    client.send(post("/echo?x=%20", word));
    const TestResponse response = client.receive();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /echo " + std::string(word));
    EXPECT_EQ(response.headers.at("connection"), "keep-alive");
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  TestClient client(port());
  client.send(get("/hold") + post("/echo", "a") + "\r\n" + post("/echo", "b"));
  auto first = wait_for_held();
  EXPECT_EQ(n_handled_, 1);
  first->send({200, "text/plain", {}, "first"});
  EXPECT_EQ(client.receive().body, "first");
  EXPECT_EQ(client.receive().body, "POST /echo a");
  EXPECT_EQ(client.receive().body, "POST /echo b");
}

TEST_F(HttpServerTest, ReadsBodiesInAnyPieces) {
  start();
  const std::string chunked =
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n";
  const std::string plain = post("/echo", "some body");
  for (const std::string& request : {chunked, plain}) {
    TestClient client(port());
    for (const char byte : request) {
      client.send({&byte, 1});
    }
    const TestResponse response = client.receive();
    EXPECT_EQ(response.body, &request == &chunked || request == chunked ? "POST /echo abc0123456789"
                                                                        : "POST /echo some body");
  }
}

TEST_F(HttpServerTest, SaysContinueWhenAsked) {
  start();
  TestClient client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  client.send("hi");
  EXPECT_EQ(client.receive().body, "POST /echo hi");
  // A refused request gets its answer instead.
  TestClient refused(port());
  refused.send("POST /closed HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(refused.receive().status, 403);
  EXPECT_TRUE(refused.is_closed_by_peer());
}

TEST_F(HttpServerTest, LeavesTheBodyOutForHead) {
  start();
  TestClient client(port());
  client.send("HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n" + get("/echo"));
  const TestResponse head = client.receive(true);
  EXPECT_EQ(head.headers.at("content-length"), "11");
  EXPECT_EQ(client.receive().body, "GET /echo ");
}

TEST_F(HttpServerTest, ClosesAfterHttp10) {
  start();
  TestClient client(port());
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  auto writer = wait_for_held();
  writer->write("raw");
  writer->end();
  const TestResponse response = client.receive();
  EXPECT_EQ(response.body, "raw");
  EXPECT_FALSE(response.headers.contains("transfer-encoding"));
}

TEST_F(HttpServerTest, RefusesWhatIsNotHttp) {
  start();
  for (const std::string request :
       {"\x16\x03\x01 TLS\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\nbad header\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    TestClient client(port());
    client.send(request);
    EXPECT_EQ(client.receive().status, 400) << request;
    EXPECT_TRUE(client.is_closed_by_peer());
  }
  for (const char* coding : {"gzip", "gzip, chunked"}) {
    EXPECT_EQ(
        ask(port(), "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + std::string(coding) + "\r\n\r\n")
            .status,
        501)
        << coding;
  }
  EXPECT_EQ(n_handled_, 0);
}

TEST_F(HttpServerTest, LimitsHeadersAndBodies) {
  http::HttpLimits limits;
  limits.header_bytes = 2000;
  limits.body_bytes = 1000;
  start(limits);
  EXPECT_EQ(ask(port(), get("/echo", "X: " + std::string(3000, 'x') + "\r\n")).status, 431);
  EXPECT_EQ(ask(port(), post("/echo", std::string(1000, 'x'))).status, 200);
  EXPECT_EQ(ask(port(), post("/echo", std::string(1001, 'x'))).status, 413);
  EXPECT_EQ(ask(port(), "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" +
                            std::string(1024, 'x') + "\r\n0\r\n\r\n")
                .status,
            413);
  EXPECT_EQ(n_handled_, 1);
}

TEST_F(HttpServerTest, LimitsWhatStandsBesideTheBody) {
  http::HttpLimits limits;
  limits.header_bytes = 2000;
  start(limits);
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string filler(200'000, 'x');
  EXPECT_EQ(ask(port(), head + "1;" + filler).status, 431);                      // a chunk extension
  EXPECT_EQ(ask(port(), head + "1\r\na\r\n0\r\nX: " + filler).status, 431);      // a trailer
  EXPECT_EQ(ask(port(), head + "1;x=1\r\na\r\n0\r\nX: y\r\n\r\n").status, 200);  // as they should be
  EXPECT_EQ(n_handled_, 1);
}

TEST_F(HttpServerTest, BoundsAllBodiesTogether) {
  http::HttpLimits limits;
  limits.body_bytes = 1000;
  limits.total_body_bytes = 1500;
  start(limits);
  TestClient first(port());
  first.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + std::string(999, 'x'));
  // The first one's share is taken once its header is read, which a second request cannot overtake for long.
  EXPECT_TRUE(eventually([&] { return ask(port(), post("/echo", std::string(1000, 'x'))).status == 503; }));
  first.send("x");
  EXPECT_EQ(first.receive().status, 200);
  EXPECT_TRUE(eventually([&] { return ask(port(), post("/echo", std::string(1000, 'x'))).status == 200; }));
}

TEST_F(HttpServerTest, GivesSlowSendersUp) {
  http::HttpLimits limits;
  limits.header_timeout = std::chrono::milliseconds(300);
  limits.body_timeout = std::chrono::milliseconds(300);
  limits.idle_timeout = std::chrono::milliseconds(300);
  start(limits);
  TestClient silent(port());
  TestClient slow_header(port());
  slow_header.send("GET /echo HTTP/1.1\r\nHo");
  TestClient slow_body(port());
  slow_body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  TestClient idle(port());
  idle.send(get("/echo"));
  EXPECT_EQ(idle.receive().status, 200);
  EXPECT_TRUE(silent.is_closed_by_peer());
  EXPECT_EQ(slow_header.receive().status, 408);
  EXPECT_EQ(slow_body.receive().status, 408);
  EXPECT_TRUE(idle.is_closed_by_peer());
}

TEST_F(HttpServerTest, DropsSlowReaders) {
  http::HttpLimits limits;
  limits.queued_write_bytes = 1 << 20;
  start(limits);
  TestClient client(port(), 4096);
  client.send(get("/stream"));
  auto writer = wait_for_held();
  // Far more than the kernel's buffers and the queue hold.
  for (int i = 0; i < 2000 && writer->is_open(); ++i) {
    writer->write(std::string(64 << 10, 'x'));
  }
  EXPECT_TRUE(eventually([&] { return !writer->is_open() && n_left_ == 1; }));
}

TEST_F(HttpServerTest, DropsReadersThatStop) {
  http::HttpLimits limits;
  limits.write_timeout = std::chrono::milliseconds(300);
  limits.queued_write_bytes = 64 << 20;
  start(limits);
  TestClient client(port(), 4096);
  client.send(get("/stream"));
  auto writer = wait_for_held();
  writer->write(std::string(32 << 20, 'x'));
  EXPECT_TRUE(eventually([&] { return n_left_ == 1; }));
}

TEST_F(HttpServerTest, SeesClientsLeave) {
  start();
  int n_gone = 0;
  for (const char* target : {"/hold", "/stream"}) {
    TestClient client(port());
    client.send(get(target));
    auto writer = wait_for_held();
    EXPECT_TRUE(writer->is_open());
    client.close();
    ++n_gone;
    EXPECT_TRUE(eventually([&] { return n_left_ == n_gone; })) << target;
    EXPECT_FALSE(writer->is_open());
    bool told = false;
    writer->on_disconnect([&] { told = true; });
    EXPECT_TRUE(told);
  }
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
}

TEST_F(HttpServerTest, SeesClientsLeaveWithPipelinedInput) {
  start();
  TestClient client(port());
  client.send(get("/hold") + get("/echo"));
  auto writer = wait_for_held();
  client.close();
  EXPECT_TRUE(eventually([&] { return n_left_ == 1; }));
}

TEST_F(HttpServerTest, AnswersClientsThatSendNoMore) {
  start();
  TestClient client(port());
  client.send(get("/hold"));
  client.shut_down_sending();
  auto writer = wait_for_held();
  EXPECT_TRUE(eventually([&] { return n_left_ == 1; }));
  writer->send({200, "text/plain", {}, "late"});
  EXPECT_EQ(client.receive().body, "late");
}

TEST_F(HttpServerTest, AnswersForHandlersThatDoNot) {
  start();
  EXPECT_EQ(ask(port(), get("/drop")).status, 500);
}

TEST_F(HttpServerTest, ClosesAConnectionForWhichThereIsNoMemory) {
  start();
  TestClient unharmed(port());
  TestClient client(port());
  client.send(get("/no-memory"));
  EXPECT_TRUE(client.is_closed_by_peer());
  unharmed.send(get("/echo"));
  EXPECT_EQ(unharmed.receive().status, 200);
  EXPECT_EQ(ask(port(), get("/echo")).status, 200);
}

TEST_F(HttpServerTest, BreaksAStreamThatIsAborted) {
  start();
  TestClient client(port());
  client.send(get("/stream"));
  auto writer = wait_for_held();
  writer->write("part");
  writer->abort();
  const TestResponse response = client.receive();
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.complete);
}

TEST_F(HttpServerTest, TakesFiveHundredConnectionsAtOnce) {
  start();
  std::vector<TestClient> clients;
  for (int i = 0; i < 500; ++i) {
    clients.emplace_back(port());
  }
  for (TestClient& client : clients) {
    ASSERT_TRUE(client.send(get("/echo")));
  }
  for (TestClient& client : clients) {
    ASSERT_EQ(client.receive().status, 200);
  }
  EXPECT_EQ(server_->stats().connections, 500);
}

TEST_F(HttpServerTest, RefusesConnectionsOverTheLimit) {
  http::HttpLimits limits;
  limits.connections = 3;
  start(limits);
  std::vector<TestClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(port());
    clients.back().send(get("/echo"));
    EXPECT_EQ(clients.back().receive().status, 200);
  }
  TestClient late(port());
  EXPECT_EQ(late.receive().status, 503);
  clients.pop_back();
  EXPECT_TRUE(eventually([&] { return ask(port(), get("/echo")).status == 200; }));
}

TEST_F(HttpServerTest, SaysThatAPortIsTaken) {
  start();
  http::HttpServerOptions options;
  options.port = port();
  http::HttpServer second(options, {});
  try {
    second.start();
    FAIL() << "the port is in use";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("port " + std::to_string(port()) + " on 127.0.0.1 is in use"),
              std::string::npos);
  }
}

TEST_F(HttpServerTest, StopsAfterTheRepliesInProgress) {
  start();
  TestClient busy(port());
  busy.send(get("/stream"));
  TestClient idle(port());
  idle.send(get("/echo"));
  EXPECT_EQ(idle.receive().status, 200);
  auto writer = wait_for_held();
  std::thread finisher([&] {
    EXPECT_TRUE(idle.is_closed_by_peer());  // stopping has begun
    EXPECT_FALSE(TestClient(port()).is_connected());
    writer->write("last");
    writer->end();
  });
  server_->stop(std::chrono::seconds(20));
  finisher.join();
  const TestResponse response = busy.receive();
  EXPECT_TRUE(response.complete);
  EXPECT_EQ(response.body, "last");
}

TEST_F(HttpServerTest, StopsWithoutWaitingForever) {
  start();
  TestClient client(port());
  client.send(get("/stream"));
  auto writer = wait_for_held();
  server_->stop(std::chrono::milliseconds(50));
  EXPECT_FALSE(client.receive().complete);
  writer->write("nobody hears this");
}

}  // namespace
}  // namespace orfebre
