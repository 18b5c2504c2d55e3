#include "server/http/connection.h"

#include "base/log.h"

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>

#include <ctime>
#include <new>

namespace orfebre::http {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr std::chrono::seconds kLinger{2};

std::string_view reason_phrase(int status) {
  const auto known = beast::http::int_to_status(static_cast<unsigned>(status));
  const auto text = beast::http::obsolete_reason(known);
  return {text.data(), text.size()};
}

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  const size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text, size};
}

}  // namespace

Connection::Connection(Tcp::socket socket, ConnectionHost& host)
    : socket_(std::move(socket), host.tls), host_(host) {
  beast::error_code ignored;
  const auto end = socket_.tcp().local_endpoint(ignored);
  const auto address = end.address();
  local_address_ = address.is_v6() && address.to_v6().is_v4_mapped()
                       ? asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string()
                       : address.to_string();
  socket_.tcp().set_option(Tcp::no_delay(true), ignored);
}

template <typename F>
void Connection::guarded(F&& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    log_error("no memory left for a connection: it is closed");
    close();
  }
}

void Connection::start() {
  expect_request();
  read_deadline_ = Clock::now() + host_.limits.header_timeout;
  if (!socket_.is_tls()) {
    read();
    return;
  }
  socket_.async_handshake([self = shared_from_this()](const beast::error_code& error) {
    self->guarded([&] { error ? self->close() : self->read(); });
  });
}

void Connection::start_refused() {
  if (socket_.is_tls()) {  // a handshake costs more than it is worth now
    close();
    return;
  }
  refuse(503, "too many connections: try again in a moment");
}

void Connection::expect_request() {
  state_ = State::kReading;
  parser_.emplace();
  parser_->header_limit(host_.limits.header_bytes);
  parser_->body_limit(host_.limits.body_bytes);
  head_ = {};
  body_budget_.reset();
  header_seen_ = false;
  request_begun_ = false;
  is_head_ = false;
  is_http10_ = false;
  streaming_ = false;
  answer_complete_ = false;
  read_deadline_ = Clock::now() + host_.limits.idle_timeout;
}

void Connection::read() {
  if (reading_ || input_ended_ || state_ == State::kClosed) {
    return;
  }
  if (state_ == State::kAnswering && input_.size() >= host_.limits.pipelined_bytes) {
    return;
  }
  reading_ = true;
  socket_.async_read_some(input_.prepare(kReadBytes),
                          [self = shared_from_this()](const beast::error_code& error, size_t n_bytes) {
                            self->guarded([&] { self->on_read(error, n_bytes); });
                          });
}

void Connection::on_read(const beast::error_code& error, size_t n_bytes) {
  reading_ = false;
  if (state_ == State::kClosed) {
    return;
  }
  if (is_end_of_input(error)) {
    input_ended_ = true;
    on_end_of_input();
    return;
  }
  if (error) {
    close();
    return;
  }
  input_.commit(n_bytes);
  if (state_ == State::kClosing) {
    input_.consume(input_.size());
  } else if (state_ == State::kReading) {
    consume();
  }
  read();
}

void Connection::on_end_of_input() {
  if (state_ != State::kAnswering) {
    close();
    return;
  }
  keep_alive_ = false;
  if (const auto writer = writer_.lock(); writer && !answer_complete_) {
    writer->disconnected();
  }
}

// Feeds the input to the parser until it wants more or a request is complete.
void Connection::consume() {
  if (!request_begun_) {
    while (input_.size() > 0) {  // empty lines before a request are harmless
      const char first = *static_cast<const char*>(input_.data().data());
      if (first != '\r' && first != '\n') {
        break;
      }
      input_.consume(1);
    }
    if (input_.size() == 0) {
      return;
    }
    request_begun_ = true;
    read_deadline_ = Clock::now() + host_.limits.header_timeout;
  }
  while (!parser_->is_done()) {
    if (input_.size() == 0) {
      return;
    }
    beast::error_code error;
    const size_t used = parser_->put(input_.data(), error);
    input_.consume(used);
    if (error == beast::http::error::need_more) {
      // The parser bounds the header; chunk extensions and trailers it would wait for without end.
      if (input_.size() > host_.limits.header_bytes) {
        on_parse_error(beast::http::error::header_limit);
      }
      return;
    }
    if (error) {
      on_parse_error(error);
      return;
    }
    if (!header_seen_ && parser_->is_header_done() && !on_header()) {
      return;
    }
    if (header_seen_ && !charge_body(parser_->get().body().size())) {
      return;
    }
  }
  dispatch();
}

// The header is complete: may the request go on? If not it has been answered.
bool Connection::on_header() {
  header_seen_ = true;
  head_ = copy_head();
  is_head_ = head_.method == "HEAD";
  is_http10_ = parser_->get().version() < 11;
  keep_alive_ = parser_->get().keep_alive() && !host_.draining;
  read_deadline_ = Clock::now() + host_.limits.body_timeout;
  if (head_.has_header("Transfer-Encoding") &&
      !equal_ignoring_case(head_.header("Transfer-Encoding"), "chunked")) {
    refuse(501, "the only transfer coding that this server knows is chunked");
    return false;
  }
  if (auto refusal = host_.callbacks.gate(head_)) {
    keep_alive_ = keep_alive_ && parser_->is_done();
    ++request_;
    state_ = State::kAnswering;
    read_deadline_ = Clock::time_point::max();
    queue_whole(*refusal);
    return false;
  }
  if (const auto length = parser_->content_length(); length && !charge_body(*length)) {
    return false;
  }
  if (!is_http10_ && !parser_->is_done() && equal_ignoring_case(head_.header("Expect"), "100-continue")) {
    queued_ += "HTTP/1.1 100 Continue\r\n\r\n";
    flush();
  }
  return true;
}

void Connection::on_parse_error(const beast::error_code& error) {
  if (error == beast::http::error::body_limit) {
    refuse(413, fmt::format("the request's body is larger than {} bytes", host_.limits.body_bytes));
  } else if (error == beast::http::error::header_limit) {
    refuse(431, fmt::format("the request's header is larger than {} bytes", host_.limits.header_bytes));
  } else {
    refuse(400, "this is not a well-formed HTTP/1.1 request");
  }
}

// Makes the body's share of the budget `n_bytes`, or answers with a 503.
bool Connection::charge_body(uint64_t n_bytes) {
  if (n_bytes == 0) {
    return true;
  }
  if (!body_budget_) {
    body_budget_ = std::make_shared<BodyBudget>(BodyBudget{host_.body_bytes});
  }
  if (n_bytes <= body_budget_->n_bytes) {
    return true;
  }
  const uint64_t more = n_bytes - body_budget_->n_bytes;
  if (host_.body_bytes->load() + more > host_.limits.total_body_bytes) {
    refuse(503, "too many large requests at once: try again in a moment");
    return false;
  }
  *host_.body_bytes += more;
  body_budget_->n_bytes += more;
  return true;
}

HttpRequest Connection::copy_head() const {
  const auto& message = parser_->get();
  HttpRequest head;
  head.method = std::string(message.method_string());
  head.target = std::string(message.target());
  head.local_address = local_address_;
  for (const auto& field : message) {
    head.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  return head;
}

void Connection::dispatch() {
  HttpRequest request = std::move(head_);
  request.body = std::move(parser_->get().body());
  request.body_budget = std::move(body_budget_);
  parser_.reset();
  state_ = State::kAnswering;
  read_deadline_ = Clock::time_point::max();
  ++request_;
  const auto writer = std::make_shared<AnswerWriter>(host_.io, weak_from_this(), request_);
  writer_ = writer;
  if (!host_.dispatch(std::move(request), writer)) {
    writer->send(host_.callbacks.refuse(503, "too many requests are waiting: try again in a moment"));
  }
}

void Connection::check_deadlines(Clock::time_point now) {
  if (now > write_deadline_) {
    close();
  } else if (now > read_deadline_) {
    if (state_ == State::kReading && request_begun_) {
      refuse(408, "the request did not arrive in time");
    } else {
      close();
    }
  }
}

void Connection::drain() {
  keep_alive_ = false;
  if (state_ == State::kReading) {
    close();
  }
}

void Connection::close() {
  if (state_ == State::kClosed) {
    return;
  }
  const bool cut_short = state_ == State::kAnswering && !answer_complete_;
  state_ = State::kClosed;
  socket_.close();
  if (const auto writer = writer_.lock(); writer && cut_short) {
    writer->disconnected();
  }
  host_.forget(this);
}

void Connection::send(uint64_t request, HttpResponse response) {
  if (!is_current(request) || answer_complete_) {
    return;
  }
  if (streaming_) {
    close();  // too late for another answer
  } else {
    queue_whole(response);
  }
}

void Connection::begin_stream(uint64_t request, HttpResponse head) {
  if (!is_current(request) || streaming_ || answer_complete_) {
    return;
  }
  streaming_ = true;
  if (is_http10_) {
    keep_alive_ = false;
  }
  queue_head(head, std::nullopt);
  flush();
}

void Connection::write(uint64_t request, std::string bytes) {
  if (!is_current(request) || !streaming_ || answer_complete_ || is_head_ || bytes.empty()) {
    return;
  }
  if (queued_.size() + bytes.size() > host_.limits.queued_write_bytes) {
    close();
    return;
  }
  if (is_http10_) {
    queued_ += bytes;
  } else {
    fmt::format_to(std::back_inserter(queued_), "{:x}\r\n{}\r\n", bytes.size(), bytes);
  }
  flush();
}

void Connection::end(uint64_t request) {
  if (!is_current(request) || !streaming_ || answer_complete_) {
    return;
  }
  if (!is_http10_ && !is_head_) {
    queued_ += "0\r\n\r\n";
  }
  answer_complete_ = true;
  flush();
}

void Connection::abort(uint64_t request) {
  if (is_current(request) && !answer_complete_) {
    close();
  }
}

void Connection::unanswered(uint64_t request) {
  if (!is_current(request) || answer_complete_) {
    return;
  }
  if (streaming_) {
    close();
  } else {
    refuse(500, "the request was dropped without an answer: this is a defect of the server");
  }
}

// Answers for this layer and closes afterwards: what else the client sends cannot be made sense of.
void Connection::refuse(int status, const std::string& text) {
  if (state_ != State::kAnswering) {
    ++request_;
  }
  state_ = State::kAnswering;
  keep_alive_ = false;
  read_deadline_ = Clock::time_point::max();
  queue_whole(host_.callbacks.refuse(status, text));
}

void Connection::queue_whole(const HttpResponse& response) {
  queue_head(response, response.body.size());
  if (!is_head_) {
    queued_ += response.body;
  }
  answer_complete_ = true;
  flush();
}

// `body_bytes` absent: the body is streamed.
void Connection::queue_head(const HttpResponse& response, std::optional<uint64_t> body_bytes) {
  auto out = std::back_inserter(queued_);
  if (host_.draining || input_ended_) {
    keep_alive_ = false;
  }
  fmt::format_to(out, "HTTP/1.1 {} {}\r\nDate: {}\r\nConnection: {}\r\n", response.status,
                 reason_phrase(response.status), http_date(), keep_alive_ ? "keep-alive" : "close");
  if (!response.content_type.empty()) {
    fmt::format_to(out, "Content-Type: {}\r\n", response.content_type);
  }
  for (const Header& header : response.headers) {
    fmt::format_to(out, "{}: {}\r\n", header.name, header.value);
  }
  if (!body_bytes) {
    if (!is_http10_) {
      queued_ += "Transfer-Encoding: chunked\r\n";
    }
  } else if (response.status != 204) {
    fmt::format_to(out, "Content-Length: {}\r\n", *body_bytes);
  }
  queued_ += "\r\n";
}

void Connection::flush() {
  if (write_pending_ || state_ == State::kClosed) {
    return;
  }
  if (queued_.empty()) {
    if (answer_complete_ && state_ == State::kAnswering) {
      finish_answer();
    }
    return;
  }
  writing_.clear();
  writing_.swap(queued_);
  written_ = 0;
  write_some();
}

void Connection::write_some() {
  write_pending_ = true;
  write_deadline_ = Clock::now() + host_.limits.write_timeout;
  socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                           [self = shared_from_this()](const beast::error_code& error, size_t n_bytes) {
                             self->guarded([&] { self->on_write(error, n_bytes); });
                           });
}

void Connection::on_write(const beast::error_code& error, size_t n_bytes) {
  write_pending_ = false;
  write_deadline_ = Clock::time_point::max();
  if (state_ == State::kClosed) {
    return;
  }
  if (error) {
    close();
    return;
  }
  written_ += n_bytes;
  if (written_ < writing_.size()) {
    write_some();
  } else {
    flush();
  }
}

void Connection::finish_answer() {
  writer_.reset();
  if (keep_alive_ && !host_.draining && !input_ended_) {
    expect_request();
    consume();
    read();
    return;
  }
  if (input_ended_) {
    close();
    return;
  }
  state_ = State::kClosing;
  socket_.shut_down_sending([self = shared_from_this()](const beast::error_code&) { self->close(); });
  input_.consume(input_.size());
  read_deadline_ = Clock::now() + kLinger;
  read();
}

AnswerWriter::AnswerWriter(std::shared_ptr<asio::io_context> io, std::weak_ptr<Connection> connection,
                           uint64_t request)
    : io_(std::move(io)), connection_(std::move(connection)), request_(request) {}

AnswerWriter::~AnswerWriter() {
  if (answered_) {
    return;
  }
  if (auto connection = connection_.lock()) {
    asio::post(*io_,
               [connection = std::move(connection), request = request_] { connection->unanswered(request); });
  }
}

template <typename F>
void AnswerWriter::post(F&& action) {
  if (auto connection = connection_.lock()) {
    asio::post(*io_, [connection = std::move(connection), action = std::forward<F>(action)]() mutable {
      connection->guarded([&] { action(*connection); });
    });
  }
}

void AnswerWriter::send(HttpResponse response) {
  answered_ = true;
  post([request = request_, response = std::move(response)](Connection& connection) mutable {
    connection.send(request, std::move(response));
  });
}

void AnswerWriter::begin_stream(HttpResponse head) {
  post([request = request_, head = std::move(head)](Connection& connection) mutable {
    connection.begin_stream(request, std::move(head));
  });
}

void AnswerWriter::write(std::string bytes) {
  post([request = request_, bytes = std::move(bytes)](Connection& connection) mutable {
    connection.write(request, std::move(bytes));
  });
}

void AnswerWriter::end() {
  answered_ = true;
  post([request = request_](Connection& connection) { connection.end(request); });
}

void AnswerWriter::abort() {
  answered_ = true;
  post([request = request_](Connection& connection) { connection.abort(request); });
}

void AnswerWriter::on_disconnect(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      callback_ = std::move(callback);
      return;
    }
  }
  callback();
}

void AnswerWriter::disconnected() {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) {
      return;
    }
    open_ = false;
    callback = std::move(callback_);
  }
  if (callback) {
    callback();
  }
}

}  // namespace orfebre::http
