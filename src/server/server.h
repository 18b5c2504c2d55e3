// The OpenAI-compatible server: routes, access rules and the life of replies over an engine.
// Owns its threads: one for sockets, a few for requests (parse, render, tokenize), one for replies. Does not
// own the engine and installs no signal handlers.
#pragma once

#include "server/http/http_server.h"
#include "server/server_context.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orfebre {

struct ServerOptions {
  std::string host = "127.0.0.1";            // an IP address, or "localhost"
  uint16_t port = 8080;                      // 0: any free one; Server::port() tells which
  std::vector<std::string> api_keys;         // none: no key is asked for, and only local callers are served
  bool allow_remote_without_key = false;     // bind beyond loopback although there is no key
  std::vector<std::string> allowed_hosts;    // further names accepted in Host and Origin without a key
  std::vector<std::string> allowed_origins;  // of web pages that may use it; "*": all
  std::string tls_certificate, tls_key;      // PEM files; empty: no TLS
  int request_threads = 2;
  std::chrono::milliseconds keep_alive{5'000};  // an SSE comment after so much silence
  http::HttpLimits limits;
};

// Throws Error(kInvalidRequest) for a remote host without a key. Server::start asks too; a program that loads
// a model first can refuse before that.
void require_key_for_remote_host(const ServerOptions& options);

class Server {
 public:
  Server(ServerOptions options, ServerContext context);
  // Stops.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Listens, and asks the engine for one token; /health is ready once it came. Throws Error
  // (kInvalidRequest): a port in use, a host that is no address, a remote host without a key.
  void start();
  uint16_t port() const;

  // Takes no more requests and lets those in progress go on; has_drained() tells when they are done.
  void drain();
  bool has_drained() const;

  // Takes no more requests, cancels the replies in progress and returns when their clients were told, after
  // 2 seconds at most. The engine stays usable.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orfebre
