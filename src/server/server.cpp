#include "server/server.h"

#include "base/log.h"
#include "server/access.h"
#include "server/api/sse.h"
#include "server/route.h"

#include <atomic>
#include <ctime>
#include <new>
#include <thread>

namespace orfebre {
namespace {

constexpr std::chrono::milliseconds kRepliesGrace{1500};
constexpr std::chrono::milliseconds kSocketsGrace{300};

}  // namespace

void require_key_for_remote_host(const ServerOptions& options) {
  const bool open_to_all = options.api_keys.empty() && !options.allow_remote_without_key;
  if (open_to_all && !http::is_loopback_host(options.host)) {
    fail(ErrorKind::kInvalidRequest,
         "host {}: other machines could use this server without a key: give one with --api-key, or listen "
         "on 127.0.0.1",
         options.host);
  }
}

class Server::Impl {
 public:
  Impl(ServerOptions options, ServerContext context)
      : options_(std::move(options)),
        access_(options_.api_keys, options_.allowed_hosts, options_.allowed_origins),
        replies_(options_.keep_alive),
        state_{std::move(context), replies_},
        http_({options_.host, options_.port, options_.request_threads, options_.tls_certificate,
               options_.tls_key, options_.limits},
              {[this](const http::HttpRequest& request) { return gate(request); },
               [this](http::HttpRequest request, std::shared_ptr<http::ResponseWriter> writer) {
                 handle(request, std::move(writer));
               },
               [](int status, const std::string& text) {
                 return error_response(status, text, status == 503 ? "overloaded" : "");
               }}) {
    state_.http_stats = [this] { return http_.stats(); };
    if (state_.context.created == 0) {
      state_.context.created = static_cast<int64_t>(std::time(nullptr));
    }
  }

  ~Impl() { stop(); }

  void start() {
    require_key_for_remote_host(options_);
    http_.start();
    warm_up();
  }

  uint16_t port() const { return http_.port(); }

  void drain() { http_.stop_accepting(); }
  bool has_drained() const { return http_.stats().connections == 0; }

  void stop() {
    if (stopped_.exchange(true)) {
      return;
    }
    http_.stop_accepting();
    replies_.cancel_all();
    if (warm_up_) {
      warm_up_->set_wake(nullptr);
      warm_up_->cancel();
    }
    const auto deadline = std::chrono::steady_clock::now() + kRepliesGrace;
    while (replies_.n_active() > 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    http_.stop(kSocketsGrace);
    replies_.stop();
  }

 private:
  // One token by the whole way: a model that loads but cannot compute is found now and not by a client.
  void warm_up() {
    Request request;
    request.prompt = state_.context.tokenizer.encode("Hello");
    request.sampling.temperature = 0;
    request.max_tokens = 1;
    warm_up_ = state_.context.engine.submit(std::move(request));
    warm_up_->set_wake([this] {
      while (const auto event = warm_up_->try_next()) {
        if (!event->finish) {
          continue;
        }
        state_.ready = *event->finish == FinishReason::kStop || *event->finish == FinishReason::kLength;
        if (!state_.ready) {
          log_error("the engine could not make a token: /health stays at 503");
        }
      }
    });
  }

  // On the I/O thread, before the body: what can be refused by the header alone.
  std::optional<http::HttpResponse> gate(const http::HttpRequest& request) const {
    const RouteMatch match = find_route(request);
    std::optional<http::HttpResponse> answer = access_.check(request, match.path, match.error_style);
    if (answer) {
      return answer;
    }
    if (match.allow.empty()) {
      answer = error_response(404, "there is no such route: GET / lists them", "not_found");
    } else if (request.method == "OPTIONS") {
      answer = http::HttpResponse{204, "", {{"Allow", match.allow}}, ""};
    } else if (!match.handler) {
      answer = error_response(405, fmt::format("this route answers {} only", match.allow),
                              "method_not_allowed", match.error_style);
      answer->headers.push_back({"Allow", match.allow});
    } else {
      return std::nullopt;
    }
    add_cors(request, *answer);
    return answer;
  }

  void add_cors(const http::HttpRequest& request, http::HttpResponse& answer) const {
    const auto cors = access_.cors_headers(request);
    if (cors.empty()) {
      return;
    }
    answer.headers.insert(answer.headers.end(), cors.begin(), cors.end());
    if (request.method != "OPTIONS") {
      answer.headers.push_back({"Access-Control-Expose-Headers", "retry-after, x-request-id"});
      return;
    }
    answer.headers.push_back({"Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"});
    // The page is trusted already, and its client library sends headers of its own.
    answer.headers.push_back(
        {"Access-Control-Allow-Headers", std::string(request.header("Access-Control-Request-Headers"))});
  }

  // On a request thread. The only place where errors become answers.
  void handle(const http::HttpRequest& request, std::shared_ptr<http::ResponseWriter> writer) {
    http::HttpResponse answer;
    const RouteMatch match = find_route(request);
    const api::ErrorStyle style = match.error_style;
    // Clients log it; it says nothing about the request.
    const http::Header id{style == api::ErrorStyle::kAnthropic ? "request-id" : "x-request-id",
                          api::random_id("req_")};
    try {
      RouteCall call{state_, request, match.path, access_.cors_headers(request), writer, style};
      call.headers.push_back(id);
      call.cache_namespace = access_.key_number(request);
      (*match.handler)(call);
      return;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInternal || error.kind() == ErrorKind::kBackend) {
        log_error("{}", error.what());
      }
      answer = error_response(error, style);
    } catch (const std::bad_alloc&) {
      log_error("no memory for a request of {} bytes", request.body.size());
      answer = error_response(503, "the server has no memory left for this request", "overloaded", style);
    } catch (const std::exception& error) {
      log_error("a defect: {}", error.what());
      answer = error_response(500, "a defect of this server: see its log", "internal_error", style);
    }
    add_cors(request, answer);
    answer.headers.push_back(id);
    writer->send(std::move(answer));
  }

  ServerOptions options_;
  AccessRules access_;
  ReplyDriver replies_;
  RouteState state_;
  std::shared_ptr<TokenStream> warm_up_;
  std::atomic<bool> stopped_{false};
  http::HttpServer http_;
};

Server::Server(ServerOptions options, ServerContext context)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(context))) {}

Server::~Server() = default;

void Server::start() {
  impl_->start();
}
uint16_t Server::port() const {
  return impl_->port();
}
void Server::drain() {
  impl_->drain();
}
bool Server::has_drained() const {
  return impl_->has_drained();
}
void Server::stop() {
  impl_->stop();
}

}  // namespace orfebre
