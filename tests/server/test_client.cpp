#include "server/test_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

namespace orfebre::testing {

TestClient::TestClient(uint16_t port, int receive_buffer_bytes) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (receive_buffer_bytes > 0) {
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  const timeval patience{20, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    close();
  }
}

bool TestClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n_sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n_sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(n_sent));
  }
  return true;
}

bool TestClient::fill() {
  std::array<char, 16384> bytes;
  const ssize_t n_read = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (n_read <= 0) {
    return false;
  }
  buffer_.append(bytes.data(), static_cast<size_t>(n_read));
  return true;
}

std::optional<std::string> TestClient::take_line() {
  size_t end;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!fill()) {
      return std::nullopt;
    }
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

bool TestClient::take_chunks(std::string& body) {
  for (;;) {
    const auto size_line = take_line();
    if (!size_line) {
      return false;
    }
    const size_t size = std::stoul(*size_line, nullptr, 16);
    while (buffer_.size() < size + 2) {
      if (!fill()) {
        return false;
      }
    }
    body += buffer_.substr(0, size);
    buffer_.erase(0, size + 2);
    if (size == 0) {
      return true;
    }
  }
}

TestResponse TestClient::receive(bool is_head) {
  TestResponse response;
  const auto status_line = take_line();
  if (!status_line || status_line->size() < 12) {
    return response;
  }
  response.status = std::stoi(status_line->substr(9, 3));
  for (;;) {
    const auto line = take_line();
    if (!line) {
      return response;
    }
    if (line->empty()) {
      break;
    }
    const size_t colon = line->find(": ");
    std::string name = line->substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    response.headers[name] = line->substr(colon + 2);
  }
  if (is_head || response.status == 204 || response.status == 100) {
    response.complete = true;
  } else if (response.headers.contains("content-length")) {
    const size_t size = std::stoul(response.headers["content-length"]);
    while (buffer_.size() < size) {
      if (!fill()) {
        return response;
      }
    }
    response.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    response.complete = true;
  } else if (response.headers.contains("transfer-encoding")) {
    response.complete = take_chunks(response.body);
  } else {
    while (fill()) {
      continue;
    }
    response.body = std::move(buffer_);
    response.complete = true;
  }
  return response;
}

std::string TestClient::receive_some() {
  if (buffer_.empty() && !fill()) {
    return {};
  }
  return std::exchange(buffer_, {});
}

bool TestClient::is_closed_by_peer() {
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t n_read = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (n_read == 0) {
      return true;
    }
    if (n_read < 0) {
      return errno == ECONNRESET;
    }
  }
}

void TestClient::shut_down_sending() {
  ::shutdown(socket_, SHUT_WR);
}

void TestClient::close() {
  if (socket_ >= 0) {
    ::close(socket_);
  }
  socket_ = -1;
}

std::string get(std::string_view target, std::string_view more_headers) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more_headers) +
         "\r\n";
}

std::string post(std::string_view target, std::string_view body, std::string_view more_headers) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more_headers) + "\r\n" +
         std::string(body);
}

TestResponse ask(uint16_t port, std::string_view request) {
  TestClient client(port);
  client.send(request);
  return client.receive();
}

}  // namespace orfebre::testing
