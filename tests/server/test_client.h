// A plain HTTP/1.1 client over a blocking socket, which lets a test send anything and see everything.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace orfebre::testing {

// Waits for what other threads are about to do; the limit is far beyond what it takes.
template <typename F>
bool eventually(F&& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

struct TestResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // without chunk framing
  bool complete = false;                       // false: the connection broke before the end
};

class TestClient {
 public:
  // Connects to 127.0.0.1. `receive_buffer_bytes` above 0 makes a client that takes little.
  explicit TestClient(uint16_t port, int receive_buffer_bytes = 0);
  ~TestClient() { close(); }
  TestClient(TestClient&& other) noexcept : socket_(other.socket_), buffer_(std::move(other.buffer_)) {
    other.socket_ = -1;
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool is_connected() const { return socket_ >= 0; }
  // False when the other side has closed.
  bool send(std::string_view bytes);
  // Reads one response; `is_head` when no body follows. Waits 20 s at most.
  TestResponse receive(bool is_head = false);
  // What has come and not been read by receive(), waiting for at least one more byte; empty at the end.
  std::string receive_some();
  // Whether the other side closes within 20 s; what it still sends is thrown away.
  bool is_closed_by_peer();
  void shut_down_sending();
  void close();

 private:
  bool fill();
  std::optional<std::string> take_line();
  bool take_chunks(std::string& body);

  int socket_ = -1;
  std::string buffer_;
};

std::string get(std::string_view target, std::string_view more_headers = "");
std::string post(std::string_view target, std::string_view body, std::string_view more_headers = "");

// One request on a connection of its own.
TestResponse ask(uint16_t port, std::string_view request);

}  // namespace orfebre::testing
