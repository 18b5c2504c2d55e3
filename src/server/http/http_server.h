// The HTTP/1.1 server: sockets, parsing, limits, timeouts, a pool of threads for the handlers.
// Does not know routes, keys or JSON; they come in as functions.
//
// Boost.Beast for the grammar and Asio for the sockets, header-only, on one I/O thread:
// - A read is always pending while a request is being answered, so that a client which leaves is seen at
//   once, whether its reply is streamed or not. cpp-httplib's plain handlers cannot see that.
// - A connection costs a few kilobytes and no thread, so a thousand idle or slow clients are harmless.
//   cpp-httplib takes a thread for each, and the one that Debian 12 ships listens with a backlog of 5.
// - Every phase has a deadline of its own: header, body, each write, idle.
// No coroutines: clang 14 with libstdc++ lacks them.
#pragma once

#include "server/http/http_types.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace orfebre::http {

struct HttpLimits {
  uint32_t header_bytes = 64 << 10;
  uint64_t body_bytes = 32 << 20;
  uint64_t total_body_bytes = 256 << 20;  // all bodies being received or handled; more get a 503
  uint64_t queued_write_bytes = 4 << 20;  // of a streamed reply, not yet taken by the client
  uint32_t pipelined_bytes = 64 << 10;    // read ahead while a reply runs
  int connections = 1024;                 // more get a 503 and are closed
  int waiting_requests = 1024;            // parsed, waiting for a handler thread; more get a 503
  std::chrono::milliseconds header_timeout{15'000};
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};  // without any progress
  std::chrono::milliseconds idle_timeout{75'000};   // between requests
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an IP address, or "localhost"
  uint16_t port = 0;               // 0: any free one
  int handler_threads = 2;
  std::string tls_certificate;  // PEM file with the certificate and its chain; empty: no TLS
  std::string tls_key;          // PEM file
  HttpLimits limits;
};

struct HttpCallbacks {
  // On the I/O thread, when the header is complete and before the body is read: an answer refuses the
  // request.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> gate;
  // On a handler thread.
  std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>)> handle;
  // The answer for what this layer refuses itself: 400, 408, 413, 431, 500, 501, 503.
  std::function<HttpResponse(int status, const std::string& text)> refuse;
};

struct HttpStats {
  int connections = 0;
  uint64_t accepted = 0;
  uint64_t refused = 0;  // over the connection limit
};

class HttpServer {
 public:
  HttpServer(HttpServerOptions options, HttpCallbacks callbacks);
  ~HttpServer();

  // Binds, listens and starts the threads. Throws Error: kInvalidRequest for a host that is no address, for a
  // port in use or one that needs rights, and for TLS files that cannot be used.
  void start();
  uint16_t port() const;
  HttpStats stats() const;

  // Takes no new connection or request; connections without an answer in progress are closed.
  void stop_accepting();
  // stop_accepting(), then waits up to `grace` for the replies in progress, closes everything and joins.
  void stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether `host` is a loopback address or "localhost".
bool is_loopback_host(const std::string& host);

}  // namespace orfebre::http
