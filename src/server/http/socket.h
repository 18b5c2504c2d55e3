// A connection's socket, plain or behind TLS. Private to this folder.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <utility>
#include <variant>

namespace orfebre::http {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

class Socket {
 public:
  // `tls` null: plain. It must outlive the socket.
  Socket(Tcp::socket socket, asio::ssl::context* tls) : stream_(wrap(std::move(socket), tls)) {}

  bool is_tls() const { return std::holds_alternative<Tls>(stream_); }

  template <typename Handler>
  void async_handshake(Handler&& handler) {
    std::get<Tls>(stream_).async_handshake(asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    std::visit([&](auto& stream) { stream.async_read_some(buffers, std::forward<Handler>(handler)); },
               stream_);
  }

  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    std::visit([&](auto& stream) { stream.async_write_some(buffers, std::forward<Handler>(handler)); },
               stream_);
  }

  // Says that nothing more will be sent. `handler` is called, under TLS only, when the other side has said so
  // too.
  template <typename Handler>
  void shut_down_sending(Handler&& handler) {
    if (auto* tls = std::get_if<Tls>(&stream_)) {
      tls->async_shutdown(std::forward<Handler>(handler));
      return;
    }
    boost::system::error_code ignored;
    std::get<Tcp::socket>(stream_).shutdown(Tcp::socket::shutdown_send, ignored);
  }

  Tcp::socket& tcp() {
    auto* tls = std::get_if<Tls>(&stream_);
    return tls ? tls->next_layer() : std::get<Tcp::socket>(stream_);
  }
  void close() {
    boost::system::error_code ignored;
    tcp().close(ignored);
  }

 private:
  using Tls = asio::ssl::stream<Tcp::socket>;
  using Stream = std::variant<Tcp::socket, Tls>;

  static Stream wrap(Tcp::socket socket, asio::ssl::context* tls) {
    if (tls) {
      return Stream(std::in_place_type<Tls>, std::move(socket), *tls);
    }
    return Stream(std::in_place_type<Tcp::socket>, std::move(socket));
  }

  Stream stream_;
};

// Whether a read has ended because the other side closed; under TLS many do so without saying it.
inline bool is_end_of_input(const boost::system::error_code& error) {
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

}  // namespace orfebre::http
