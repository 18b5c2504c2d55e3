// A request and the way to answer it, as the routes see them. No socket and no Beast type leaves this folder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orfebre::http {

struct Header {
  std::string name;
  std::string value;
};

// Whether two header names or tokens are equal, ASCII case aside.
bool equal_ignoring_case(std::string_view a, std::string_view b);

struct HttpRequest {
  std::string method;  // upper case as sent: GET, POST, ...
  std::string target;  // as sent, query included
  std::vector<Header> headers;
  std::string body;
  std::string local_address;          // the address at this end of the connection, without port
  std::shared_ptr<void> body_budget;  // gives the body's bytes back to the server's budget when released

  // The first header of that name, or an empty view.
  std::string_view header(std::string_view name) const;
  bool has_header(std::string_view name) const;
  // The target without its query, percent-escapes decoded; empty if the escapes are broken.
  std::string path() const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<Header> headers;
  std::string body;
};

// One request's answer: either send() once, or begin_stream(), write()s and end(). Thread-safe; nothing
// blocks: bytes are queued for the I/O thread. A writer released without an answer sends a 500.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  virtual void send(HttpResponse response) = 0;

  // Sends the head at once; `head.body` is ignored. The length is unknown: chunked, or until close for 1.0.
  virtual void begin_stream(HttpResponse head) = 0;
  virtual void write(std::string bytes) = 0;
  virtual void end() = 0;

  // Drops the connection without a proper end, so that the client sees a broken transfer.
  virtual void abort() = 0;

  // False once the client has left or was dropped for reading too slowly.
  virtual bool is_open() const = 0;

  // `callback` is called once, on the I/O thread, when the client leaves before the answer is complete; at
  // once, on the caller's thread, if it has left already. Must be quick.
  virtual void on_disconnect(std::function<void()> callback) = 0;
};

}  // namespace orfebre::http
