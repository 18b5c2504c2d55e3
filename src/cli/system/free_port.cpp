#include "cli/system/free_port.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace orfebre::cli {

void require_free_port(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  const std::string ip = host == "localhost" ? "127.0.0.1" : host;
  if (inet_pton(AF_INET, ip.c_str(), &address.sin_addr) != 1) {
    return;
  }
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor < 0) {
    return;
  }
  const int yes = 1;  // a port whose last connections are still closing is free
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const bool in_use = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
                      errno == EADDRINUSE;
  close(descriptor);
  if (in_use) {
    fail(ErrorKind::kInvalidRequest, "port {} of {} is in use; choose another one with --port", port, host);
  }
}

}  // namespace orfebre::cli
