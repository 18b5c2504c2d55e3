// Whether a port can be listened on, asked before a model is loaded: finding out after minutes would be rude.
#pragma once

#include <string>

namespace orfebre::cli {

// Throws Error(kInvalidRequest) when something listens on the port already. Says nothing about hosts that are
// no IPv4 address, and nothing is reserved: the server finds out for good.
void require_free_port(const std::string& host, int port);

}  // namespace orfebre::cli
