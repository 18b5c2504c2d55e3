// `orfebre serve`: the HTTP API over a loaded model, until Ctrl-C or SIGTERM.
#include "base/error.h"
#include "base/log.h"
#include "cli/app/load_model.h"
#include "cli/app/model_dir.h"
#include "cli/commands.h"
#include "cli/system/free_port.h"
#include "cli/system/signals.h"
#include "cli/version.h"
#include "server/server.h"

#include <fmt/core.h>

#include <chrono>
#include <thread>

namespace orfebre::cli {

namespace {

// All request bodies together: part of what the memory plan calls the program.
constexpr uint64_t kBodyBytes = 64'000'000;

ServerOptions server_options(const ServeCommand& command) {
  for (const std::string& key : command.api_keys) {
    if (key.empty()) {  // it would let everybody in while it looks like a lock
      fail(ErrorKind::kInvalidRequest, "--api-key is empty; give a key or leave the option out");
    }
  }
  ServerOptions options;
  options.host = command.host;
  options.port = static_cast<uint16_t>(command.port);
  options.api_keys = command.api_keys;
  options.allowed_hosts = command.allowed_hosts;
  options.allowed_origins = command.allowed_origins;
  options.allow_remote_without_key = command.no_auth;
  options.tls_certificate = command.tls_certificate;
  options.tls_key = command.tls_key;
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    fail(ErrorKind::kInvalidRequest, "--tls-cert and --tls-key belong together: give both or neither");
  }
  options.limits.total_body_bytes = kBodyBytes;
  return options;
}

ServerContext server_context(const ServeCommand& command, LoadedModel& model) {
  const std::string name = command.model_name.empty() ? model_dir_name(model.directory) : command.model_name;
  ServerContext context{*model.engine, *model.tokenizer, name, model.stop_ids};
  context.thinks_by_default = !command.no_think;
  context.sampling = model.sampling;
  context.train_context = model.model_context;
  context.fingerprint = fmt::format("orfebre-{}", kVersion);
  return context;
}

// The first signal lets the replies in progress end, the second cancels them; the third ends the program.
void finish_replies(Server& server) {
  server.drain();
  if (!server.has_drained()) {
    log_info("finishing the replies in progress (Ctrl-C again cancels them)");
  }
  clear_stop();
  while (!server.has_drained() && !stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

int run_command(const ServeCommand& command) {
  if (command.trace) {
    set_log_level(LogLevel::kTrace);
  }
  catch_stop_signals();
  ignore_broken_pipes();
  require_free_port(command.host, command.port);
  const ServerOptions options = server_options(command);
  require_key_for_remote_host(options);
  LoadedModel model = load_model(command.model);
  Server server(options, server_context(command, model));
  server.start();
  log_info("{} on {}, loaded in {:.1f} s: context {} tokens, {} replies at once",
           model_dir_name(model.directory), model.backend_name, model.load_seconds,
           model.engine->max_context(), command.model.parallel);
  log_info("listening on {}://{}:{}/v1 (Ctrl-C stops)", command.tls_certificate.empty() ? "http" : "https",
           command.host, server.port());
  wait_for_stop();
  finish_replies(server);
  log_info("stopping");
  server.stop();
  model.engine->shut_down();
  return 0;
}

}  // namespace orfebre::cli
