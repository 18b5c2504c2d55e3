// One client's connection: reads requests, one at a time, and writes their answers in order. All members are
// touched by the I/O thread only. Answers arrive from other threads through AnswerWriter, which posts them
// here.
//
// States: kReading (header or body, or idle between requests) -> kAnswering (a read stays pending, to see the
// client leave; what it sends meanwhile waits for its turn) -> kReading again, or kClosing: the answer is
// flushed, our side is shut down and what still comes in is thrown away, so that no reset destroys the answer
// on its way. A client that closes its sending side counts as gone: its reply is cancelled.
// Under TLS a handshake comes first. Private to this folder: no header outside it sees Asio or Beast.
#pragma once

#include "server/http/http_server.h"
#include "server/http/socket.h"

#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace orfebre::http {

namespace beast = boost::beast;
using Clock = std::chrono::steady_clock;

class Connection;
class AnswerWriter;

// A share of the server's budget for bodies; given back when the last holder lets go.
struct BodyBudget {
  std::shared_ptr<std::atomic<uint64_t>> total;
  uint64_t n_bytes = 0;
  ~BodyBudget() { *total -= n_bytes; }
};

// What a connection needs of the server.
struct ConnectionHost {
  std::shared_ptr<asio::io_context> io;
  const HttpLimits& limits;
  const HttpCallbacks& callbacks;
  std::shared_ptr<std::atomic<uint64_t>> body_bytes;  // received or in handlers' hands, all connections
  bool draining = false;                              // no further request is taken
  std::function<bool(HttpRequest, std::shared_ptr<AnswerWriter>)> dispatch;  // false: too many are waiting
  std::function<void(Connection*)> forget;
  asio::ssl::context* tls = nullptr;  // null: plain sockets
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, ConnectionHost& host);

  void start();
  // Answers the next thing with a 503 and closes: the server is full.
  void start_refused();
  void check_deadlines(Clock::time_point now);
  // Closes now unless an answer is in progress; then closes after it.
  void drain();
  void close();

  // Runs `action`; closes the connection where there is no memory for it.
  template <typename F>
  void guarded(F&& action);

  // From AnswerWriter, for the request with this number; an answer to an earlier one is ignored.
  void send(uint64_t request, HttpResponse response);
  void begin_stream(uint64_t request, HttpResponse head);
  void write(uint64_t request, std::string bytes);
  void end(uint64_t request);
  void abort(uint64_t request);
  void unanswered(uint64_t request);

 private:
  using Parser = beast::http::request_parser<beast::http::string_body>;
  enum class State { kReading, kAnswering, kClosing, kClosed };

  void expect_request();
  void read();
  void on_read(const beast::error_code& error, size_t n_bytes);
  void on_end_of_input();
  void consume();
  bool on_header();
  void on_parse_error(const beast::error_code& error);
  bool charge_body(uint64_t n_bytes);
  HttpRequest copy_head() const;
  void dispatch();

  void refuse(int status, const std::string& text);
  void queue_head(const HttpResponse& response, std::optional<uint64_t> body_bytes);
  void queue_whole(const HttpResponse& response);
  void flush();
  void write_some();
  void on_write(const beast::error_code& error, size_t n_bytes);
  void finish_answer();
  bool is_current(uint64_t request) const { return state_ == State::kAnswering && request == request_; }

  Socket socket_;
  ConnectionHost& host_;
  std::string local_address_;
  State state_ = State::kReading;

  beast::flat_buffer input_;
  std::optional<Parser> parser_;
  HttpRequest head_;  // of the request being read; complete once header_seen_
  std::shared_ptr<BodyBudget> body_budget_;
  bool header_seen_ = false;
  bool request_begun_ = false;
  bool reading_ = false;
  bool input_ended_ = false;
  Clock::time_point read_deadline_ = Clock::time_point::max();

  uint64_t request_ = 0;  // number of the request being answered
  std::weak_ptr<AnswerWriter> writer_;
  bool keep_alive_ = true;
  bool is_head_ = false;  // method HEAD: no body in the answer
  bool is_http10_ = false;
  bool streaming_ = false;
  bool answer_complete_ = false;

  std::string queued_;
  std::string writing_;
  size_t written_ = 0;
  bool write_pending_ = false;
  Clock::time_point write_deadline_ = Clock::time_point::max();
};

// The ResponseWriter of one request: what other threads hold, posting to the I/O thread whatever they write.
class AnswerWriter final : public ResponseWriter, public std::enable_shared_from_this<AnswerWriter> {
 public:
  AnswerWriter(std::shared_ptr<asio::io_context> io, std::weak_ptr<Connection> connection, uint64_t request);
  ~AnswerWriter() override;

  void send(HttpResponse response) override;
  void begin_stream(HttpResponse head) override;
  void write(std::string bytes) override;
  void end() override;
  void abort() override;
  bool is_open() const override { return open_; }
  void on_disconnect(std::function<void()> callback) override;

  // On the I/O thread: the client has left before the answer was complete.
  void disconnected();

 private:
  template <typename F>
  void post(F&& action);

  std::shared_ptr<asio::io_context> io_;
  std::weak_ptr<Connection> connection_;
  uint64_t request_;
  std::atomic<bool> open_{true};
  std::atomic<bool> answered_{false};
  std::mutex mutex_;
  std::function<void()> callback_;
};

}  // namespace orfebre::http
