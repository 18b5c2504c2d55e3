#include "server/http/http_server.h"

#include "base/error.h"
#include "base/log.h"
#include "server/http/connection.h"
#include "server/http/worker_pool.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/resource.h>

#include <new>
#include <thread>
#include <unordered_map>

namespace orfebre::http {
namespace {

constexpr std::chrono::milliseconds kSweep{200};
constexpr int kBacklog = 4096;      // the kernel lowers it to net.core.somaxconn
constexpr int kRefusedAtOnce = 64;  // connections over the limit that still get their 503

asio::ip::address parse_host(const std::string& host) {
  if (host == "localhost") {
    return asio::ip::address_v4::loopback();
  }
  beast::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (error) {
    fail(ErrorKind::kInvalidRequest, "host: expected an IP address or \"localhost\", found \"{}\"", host);
  }
  return address;
}

// TLS 1.2 and later.
std::unique_ptr<asio::ssl::context> make_tls(const HttpServerOptions& options) {
  if (options.tls_certificate.empty()) {
    return nullptr;
  }
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                   asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  beast::error_code error;
  tls->use_certificate_chain_file(options.tls_certificate, error);
  if (error) {
    fail(ErrorKind::kInvalidRequest, "TLS certificate {}: expected a PEM file with a certificate, found: {}",
         options.tls_certificate, error.message());
  }
  tls->use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  if (error) {
    fail(ErrorKind::kInvalidRequest, "TLS key {}: expected a PEM file with the certificate's key, found: {}",
         options.tls_key, error.message());
  }
  return tls;
}

// Every connection is a file descriptor, and 1024 is a usual soft limit for all of a process's files.
void raise_file_limit(rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
    return;
  }
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

bool is_loopback_host(const std::string& host) {
  return parse_host(host).is_loopback();
}

class HttpServer::Impl {
 public:
  Impl(HttpServerOptions options, HttpCallbacks callbacks)
      : options_(std::move(options)),
        callbacks_(std::move(callbacks)),
        io_(std::make_shared<asio::io_context>(1)),
        work_(asio::make_work_guard(*io_)),
        acceptor_(*io_),
        sweep_timer_(*io_),
        retry_timer_(*io_),
        handlers_(options_.handler_threads, static_cast<size_t>(options_.limits.waiting_requests)),
        host_{io_,
              options_.limits,
              callbacks_,
              std::make_shared<std::atomic<uint64_t>>(0),
              false,
              [this](HttpRequest request, std::shared_ptr<AnswerWriter> writer) {
                return dispatch(std::move(request), std::move(writer));
              },
              [this](Connection* connection) {
                connections_.erase(connection);
                n_connections_ = static_cast<int>(connections_.size());
              },
              nullptr} {}

  ~Impl() { stop(std::chrono::milliseconds(0)); }

  void start() {
    tls_ = make_tls(options_);
    host_.tls = tls_.get();
    const Tcp::endpoint where(parse_host(options_.host), options_.port);
    bind(where);
    raise_file_limit(static_cast<rlim_t>(options_.limits.connections + kRefusedAtOnce + 256));
    port_ = acceptor_.local_endpoint().port();
    accept();
    sweep();
    thread_ = std::thread([this] { run_io(); });
  }

  uint16_t port() const { return port_; }

  HttpStats stats() const { return {n_connections_, n_accepted_, n_refused_}; }

  void stop_accepting() {
    if (!thread_.joinable()) {
      return;
    }
    asio::post(*io_, [this] {
      host_.draining = true;
      beast::error_code ignored;
      acceptor_.close(ignored);
      retry_timer_.cancel();
      for (const auto& connection : snapshot()) {
        connection->drain();
      }
    });
  }

  void stop(std::chrono::milliseconds grace) {
    if (!thread_.joinable()) {
      return;
    }
    stop_accepting();
    const auto deadline = Clock::now() + grace;
    while (n_connections_ > 0 && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    handlers_.stop();
    asio::post(*io_, [this] {
      for (const auto& connection : snapshot()) {
        connection->close();
      }
      sweep_timer_.cancel();
      stopped_ = true;
      work_.reset();
    });
    thread_.join();
  }

 private:
  void bind(const Tcp::endpoint& where) {
    beast::error_code error;
    acceptor_.open(where.protocol(), error);
    if (!error) {
      acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
    }
    if (!error) {
      acceptor_.bind(where, error);
    }
    if (!error) {
      acceptor_.listen(kBacklog, error);
    }
    if (!error) {
      return;
    }
    beast::error_code ignored;
    acceptor_.close(ignored);
    const std::string address = where.address().to_string();
    if (error == asio::error::address_in_use) {
      fail(ErrorKind::kInvalidRequest,
           "port {} on {} is in use by another program: stop it or choose another port with --port",
           where.port(), address);
    }
    fail(ErrorKind::kInvalidRequest, "cannot listen on {} port {}: {}", address, where.port(),
         error.message());
  }

  // What connections cannot guard themselves, such as the allocations of Asio, must not end the program.
  void run_io() {
    for (bool done = false; !done;) {
      try {
        io_->run();
        done = true;
      } catch (const std::bad_alloc&) {
        log_error("no memory left for the sockets");
      }
    }
  }

  void accept() {
    acceptor_.async_accept([this](const beast::error_code& error, Tcp::socket socket) {
      if (!acceptor_.is_open()) {
        return;
      }
      if (error) {
        // Mostly out of file descriptors: the connection waits in the backlog until some are free again.
        retry_timer_.expires_after(std::chrono::milliseconds(50));
        retry_timer_.async_wait([this](const beast::error_code& cancelled) {
          if (!cancelled) {
            accept();
          }
        });
        return;
      }
      try {
        admit(std::move(socket));
      } catch (const std::bad_alloc&) {
        log_error("no memory left for another connection: it is closed");
      }
      accept();
    });
  }

  void admit(Tcp::socket socket) {
    ++n_accepted_;
    const int n_now = static_cast<int>(connections_.size());
    if (n_now >= options_.limits.connections) {
      ++n_refused_;
      if (n_now >= options_.limits.connections + kRefusedAtOnce) {
        return;
      }
    }
    auto connection = std::make_shared<Connection>(std::move(socket), host_);
    connections_.emplace(connection.get(), connection);
    n_connections_ = static_cast<int>(connections_.size());
    if (n_now >= options_.limits.connections) {
      connection->start_refused();
    } else {
      connection->start();
    }
  }

  void sweep() {
    sweep_timer_.expires_after(kSweep);
    sweep_timer_.async_wait([this](const beast::error_code& error) {
      if (error || stopped_) {
        return;
      }
      sweep();
      const auto now = Clock::now();
      for (const auto& connection : snapshot()) {
        connection->check_deadlines(now);
      }
    });
  }

  bool dispatch(HttpRequest request, std::shared_ptr<AnswerWriter> writer) {
    auto shared = std::make_shared<HttpRequest>(std::move(request));
    return handlers_.post([this, shared = std::move(shared), writer = std::move(writer)]() mutable {
      try {
        callbacks_.handle(std::move(*shared), std::move(writer));
      } catch (const std::exception& error) {
        log_error("a request handler failed: {}", error.what());
      }
    });
  }

  // A copy, because closing a connection removes it from the map.
  std::vector<std::shared_ptr<Connection>> snapshot() const {
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) {
      all.push_back(connection);
    }
    return all;
  }

  HttpServerOptions options_;
  HttpCallbacks callbacks_;
  std::shared_ptr<asio::io_context> io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  Tcp::acceptor acceptor_;
  asio::steady_timer sweep_timer_;
  asio::steady_timer retry_timer_;
  WorkerPool handlers_;
  std::unique_ptr<asio::ssl::context> tls_;
  ConnectionHost host_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;  // I/O thread
  bool stopped_ = false;                                                      // I/O thread
  std::atomic<int> n_connections_{0};
  std::atomic<uint64_t> n_accepted_{0};
  std::atomic<uint64_t> n_refused_{0};
  uint16_t port_ = 0;
  std::thread thread_;
};

HttpServer::HttpServer(HttpServerOptions options, HttpCallbacks callbacks)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(callbacks))) {}

HttpServer::~HttpServer() = default;

void HttpServer::start() {
  impl_->start();
}
uint16_t HttpServer::port() const {
  return impl_->port();
}
HttpStats HttpServer::stats() const {
  return impl_->stats();
}
void HttpServer::stop_accepting() {
  impl_->stop_accepting();
}
void HttpServer::stop(std::chrono::milliseconds grace) {
  impl_->stop(grace);
}

}  // namespace orfebre::http
